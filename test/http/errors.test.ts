import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import test from "ava";
import pg from "pg";
import { ENDPOINTS } from "../../src/api/endpoints.ts";
import { PROBLEMS, type ProblemCode } from "../../src/base/problem.ts";
import { newToken } from "../../src/base/tokens.ts";
import { type Agent, type Answer, type Body, call, eventually } from "../support/market.ts";
import { type Market, NOTHING, OFFER, openOwnMarket } from "./contract.ts";

/**
 * Real requests cause every refusal of the contract. The tests check its code, its members, and which of several
 * refusals comes first.
 */

let market: Market;
test.before(async () => {
  market = await openOwnMarket();
});

test.after.always(() => market?.stop());

/** Codes that other files cause. */
const ELSEWHERE: Partial<Record<ProblemCode, string>> = {
  connection_already_used: "../pages/approving.test.ts",
  connection_expired: "../pages/approving.test.ts",
  link_expired: "../sign_in/guards.test.ts",
  verification_incomplete: "../sign_in/email.test.ts",
  idempotency_in_flight: "../faults/idempotency.test.ts",
};

test("every code is caused here, or in a file that is named here", async (t) => {
  for (const code of Object.keys(PROBLEMS) as ProblemCode[]) {
    const source = await readFile(new URL(ELSEWHERE[code] ?? import.meta.url, import.meta.url), "utf8");
    t.true(source.replace(/const ELSEWHERE[^}]*}/, "").includes(`"${code}"`), code);
  }
});

const COMMON = ["type", "title", "status", "code", "detail", "request_id", "retryable"];

/** Checks that a response is the Problem of a code. `more` lists its further members. */
const isProblem = (
  t: { deepEqual: (actual: unknown, expected: unknown, message?: string) => unknown },
  answer: Answer,
  code: ProblemCode,
  more: string[] = [],
): void => {
  const { status, title, retryable } = PROBLEMS[code];
  const { body, headers } = answer;
  t.deepEqual(
    {
      status: answer.status,
      media: headers["content-type"],
      cache: headers["cache-control"],
      members: Object.keys(body).toSorted(),
      type: body.type,
      title: body.title,
      stated: body.status,
      code: body.code,
      retryable: body.retryable,
      named: body.request_id === headers["request-id"],
      says: typeof body.detail === "string" && /^[A-Z0-9].*\.$/s.test(body.detail),
      wait: headers["retry-after"],
    },
    {
      status,
      media: "application/problem+json; charset=utf-8",
      cache: "no-store",
      members: [...COMMON, ...more].toSorted(),
      type: `${market.url}/errors#${code}`,
      title,
      stated: status,
      code,
      retryable,
      named: true,
      says: true,
      wait: body.retry_after === undefined ? undefined : String(body.retry_after),
    },
    `${code}: ${answer.text}`,
  );
};

const as = (token: string) => ({ authorization: `Bearer ${token}` });

/** Fills the window of an action, so that the next call exceeds the cap. */
const exhaust = (agent: Agent, action: string, calls: number) =>
  market.sql(
    "insert into market.rate_limit_hit (scope, action) select 'agent:' || $1, $2 from generate_series(1, $3)",
    [agent.id, action, calls],
  );

// ── 401 ──────────────────────────────────────────────────────────────────────────────────────────────────────────────

const PROTECTED = ENDPOINTS.filter(({ auth }) => auth === "token");
const pathOf = (path: string, id = NOTHING): string => path.replaceAll(/\{\w+\}/g, id);

test("401: every endpoint except the open ones needs a token", async (t) => {
  t.deepEqual(
    ENDPOINTS.filter(({ auth }) => auth === "none").map(({ operationId }) => operationId),
    ["getIndex", "getOpenApi", "getTaxonomy", "connectAgent"],
  );
  for (const { method, path } of PROTECTED) {
    const answer = await market.call(method.toUpperCase(), pathOf(path));
    isProblem(t, answer, "unauthorized");
    t.is(answer.headers["www-authenticate"], 'Bearer realm="souk"');
  }
});

test("401: only the token of an agent that is not removed is accepted", async (t) => {
  const agent = await market.stranger();
  const removed = await market.stranger();
  await removed.call("DELETE", "/v1/me/agent");
  const { token } = agent;
  const mistyped = token.slice(0, -1) + (token.endsWith("a") ? "b" : "a");
  for (const authorization of [
    "",
    "Bearer",
    "Bearer ",
    token,
    `Basic ${Buffer.from(`agent:${token}`).toString("base64")}`,
    `Bearer ${token} ${token}`,
    `Bearer  ${token}`,
    `Bearer "${token}"`,
    `Bearer ${token},`,
    `Bearer ${mistyped}`,
    `Bearer ${token.toLowerCase()}`,
    `Bearer ${"a".repeat(8000)}`,
    "Bearer null",
    `Bearer ${newToken()}`,
    `Bearer ${removed.token}`,
  ]) {
    isProblem(t, await market.call("GET", "/v1/me", { headers: { authorization } }), "unauthorized");
  }
  for (const authorization of [`Bearer ${token}`, `bearer ${token}`, `BEARER ${token}`]) {
    t.is((await market.call("GET", "/v1/me", { headers: { authorization } })).status, 200, authorization);
  }
  t.is((await market.call("GET", `/v1/me?access_token=${token}`)).status, 401, "a token in the URL is not accepted");
});

// ── 403 ──────────────────────────────────────────────────────────────────────────────────────────────────────────────

/** What the refusal of an unapproved agent has beside the common members. */
const UNAPPROVED = ["permission", "connected", "verified", "accepted_methods", "options", "next"];

test("403: before approval every write is refused, and the response says what is missing", async (t) => {
  const agent = await market.stranger();
  const writing = ENDPOINTS.filter(({ permission }) => permission);
  t.true(writing.length > 10);
  for (const { method, path, permission, body: { example } = {} } of writing) {
    const answer = await agent.call(method.toUpperCase(), pathOf(path), example);
    isProblem(t, answer, "verification_required", UNAPPROVED);
    t.deepEqual(
      Object.fromEntries(UNAPPROVED.map((member) => [member, answer.body[member]])),
      {
        permission,
        connected: false,
        verified: [],
        accepted_methods: [],
        options: [],
        next: [
          {
            summary:
              "Ask the person to open the connection link you were given and to pick your code there, then read your permissions.",
            method: "GET",
            path: "/v1/me",
          },
        ],
      },
      path,
    );
  }
});

test("403: what the person does not let an agent do is refused by the next statement, with the power and where to change it", async (t) => {
  const agent = await market.agent();
  await market.sql("insert into market.power (agent_id, power, allowed) values ($1, 'ask', 'never')", [agent.id]);
  const refused = await agent.call("POST", "/v1/asks", { text: "Looking for a sofa" });
  isProblem(t, refused, "power_required", ["power", "settings_url"]);
  t.like(refused.body, { power: "ask", settings_url: `${market.url}/settings/agents` });
});

// ── 404, 405, 409, 410 ───────────────────────────────────────────────────────────────────────────────────────────────

test("404: an unknown path is not found, whatever the method", async (t) => {
  for (const path of ["/v2", "/v1/nothing", "/V1/me", "/v1/offers/search/more", "/admin", "/.env", "/connect"]) {
    for (const method of ["GET", "POST", "DELETE"]) {
      const answer = await call(market.url, method, path);
      isProblem(t, answer, "not_found");
    }
  }
});

test("a browser gets a page, except at the addresses of programs", async (t) => {
  const get = async (path: string, accept = "text/html,application/xhtml+xml,*/*;q=0.8", method = "GET") => {
    const answer = await fetch(market.url + path, { method, headers: { accept } });
    return { status: answer.status, headers: Object.fromEntries(answer.headers), text: await answer.text() };
  };
  const none = ["/foo", "/connect", "/offers", "/admin", "/settings/nothing", "/connect/x%2Fy"];
  for (const [path, status] of [
    ...none.map((path) => [path, 404] as const),
    ["/oauth/%zz", 404],
    ["/offers/%zz/x", 404],
    ["/mcp", 405],
    ["/sign-out/everywhere", 405],
    [`/foo?${"a&".repeat(60)}`, 400],
  ] as const) {
    const { headers, text, ...answer } = await get(path);
    t.deepEqual([answer.status, headers["content-type"]], [status, "text/html; charset=utf-8"], path);
    t.regex(text, /<h1>.*<h2>What you can do<\/h2>/s);
    t.truthy(headers["content-security-policy"]);
    t.false(text.includes("GET /v1"));
  }
  t.is((await get("/foo", "text/html", "POST")).headers["content-type"], "text/html; charset=utf-8");
  const PROBLEM = "application/problem+json; charset=utf-8";
  for (const path of ["/v1/nothing", "/oauth/token", "/.well-known/nothing"])
    t.is((await get(path)).headers["content-type"], PROBLEM, path);
  for (const accept of ["*/*", "application/json", "application/json, text/html;q=0.5"])
    t.is((await get("/foo", accept)).headers["content-type"], PROBLEM, accept);
});

test("405: Allow lists the methods of the path", async (t) => {
  const byPath = Map.groupBy(ENDPOINTS, ({ path }) => path);
  const agent = await market.stranger();
  for (const [path, endpoints] of byPath) {
    const methods = new Set(endpoints.map(({ method }) => method.toUpperCase()));
    if (methods.has("GET")) methods.add("HEAD");
    for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND"]) {
      if (methods.has(method)) continue;
      const answer = await agent.call(method, pathOf(path));
      isProblem(t, answer, "method_not_allowed", ["next"]);
      t.is(answer.headers["allow"], [...methods].toSorted().join(", "), `${method} ${path}`);
    }
  }
});

test("409: the detail names the status that does not allow the move", async (t) => {
  const agent = await market.agent();
  const ask = await agent.call("POST", "/v1/asks", { text: "Looking for a sofa" });
  await agent.call("POST", `/v1/asks/${ask.body.id}/archive`);
  const answer = await agent.call("POST", `/v1/asks/${ask.body.id}/fulfill`);
  isProblem(t, answer, "invalid_state");
  t.true(answer.body.detail.includes("archived"));
});

// ── Bodies ───────────────────────────────────────────────────────────────────────────────────────────────────────────

test("400: the errors name the members that are wrong", async (t) => {
  const agent = await market.agent();
  isProblem(t, await agent.call("POST", "/v1/offers", { text: 7, images: "x" }), "bad_request", ["errors"]);
  isProblem(t, await agent.call("GET", "/v1/offers?limit=0"), "bad_request", ["errors"]);
  isProblem(t, await market.call("POST", "/v1/offers", { raw: "{", headers: as(agent.token) }), "bad_request");
  isProblem(t, await agent.call("POST", "/v1/offers", { text: "A sofa for sale" }), "missing_contact", ["errors"]);
  const wanted = { text: "WTB: grey sofa, max 180 EUR, Berlin. lena@example.com" };
  isProblem(t, await agent.call("POST", "/v1/offers", wanted), "reads_as_ask", ["errors", "next"]);
  isProblem(t, await agent.call("POST", "/v1/me/verifications", { method: "email" }), "unknown_method", ["options"]);
});

const MB = 1024 * 1024;
const LARGE: [path: string, limit: number, says: string][] = [
  ["/v1/connect", MB / 64, "The body is larger than 16 KB. Make it smaller; refer to images by link."],
  ["/v1/offers/search", MB, "The body is larger than 1 MB. Make it smaller; refer to images by link."],
  ["/v1/asks", MB, "The body is larger than 1 MB. Make it smaller; refer to images by link."],
  ["/v1/offers", MB / 4, "The body is larger than 256 KB. Make it smaller; refer to images by link."],
  ["/v1/offers/preview", MB / 4, "The body is larger than 256 KB. Make it smaller; refer to images by link."],
];
for (const [path, limit, says] of LARGE) {
  test(`413: POST ${path} accepts ${limit} bytes and no more, with and without a stated length`, async (t) => {
    const agent = await market.agent();
    const bytes = (size: number) => `{"padding":"${"a".repeat(size - 14)}"}`;
    for (const way of ["content-length", "transfer-encoding"]) {
      const send = (size: number) =>
        market.call("POST", path, { raw: bytes(size), headers: as(agent.token), chunked: way === "transfer-encoding" });
      t.is(bytes(limit).length, limit);
      const answer = await send(limit + 1);
      isProblem(t, answer, "payload_too_large");
      t.is(answer.body.detail, says);
      t.is(answer.headers["connection"], "close");
      t.not((await send(limit)).status, 413, "a body of exactly the limit does not get 413");
    }
  });
}

test("415: a body is accepted only if its Content-Type is JSON in UTF-8", async (t) => {
  const agent = await market.agent();
  const send = (type: string) =>
    market.call("POST", "/v1/asks", {
      raw: JSON.stringify({ text: "Looking for a sofa" }),
      headers: { ...as(agent.token), "content-type": type },
    });
  const refused = [
    ...["", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "json"],
    ...["application/jsonp", "application/json; charset=utf-16", "application/json; charset=iso-8859-1"],
  ];
  for (const type of refused) isProblem(t, await send(type), "unsupported_media_type");
  for (const type of [
    "Application/JSON; Charset=UTF-8",
    'application/json; charset="utf-8"',
    "application/vnd.souk+json",
  ])
    t.is((await send(type)).status, 201, type);
});

// ── 429 ──────────────────────────────────────────────────────────────────────────────────────────────────────────────

test("429: changes of status count in one window, and reports in another, without figures in headers", async (t) => {
  const [agent, neighbour] = [await market.agent(), await market.agent()];
  const { offer_id: offer } = (await agent.call("POST", "/v1/offers", { text: OFFER })).body;
  const { offer_id: theirs } = (await neighbour.call("POST", "/v1/offers", { text: OFFER })).body;
  const { id: ask } = (await agent.call("POST", "/v1/asks", { text: "Looking for a sofa" })).body;
  const limits = async () => (await agent.call("GET", "/v1/me")).body.limits;
  const changes: [string, string, Body?][] = [
    ["POST", `/v1/offers/${offer}/archive`],
    ["POST", `/v1/offers/${offer}/republish`],
    ["POST", `/v1/offers/${offer}/confirm`],
    ["POST", `/v1/asks/${ask}/archive`],
    ["POST", `/v1/asks/${ask}/reopen`],
    ["POST", `/v1/asks/${ask}/fulfill`],
    ["PATCH", `/v1/asks/${ask}`, { watch_enabled: false }],
  ];
  for (const [method, path, body] of changes) t.is((await agent.call(method, path, body)).status, 200, path);
  const report = { reason: "spam" };
  t.is((await agent.call("POST", `/v1/offers/${theirs}/report`, report)).status, 200);
  const counted = await limits();
  t.deepEqual(
    ["manage", "report_offer", "publish_offer", "create_ask"].map((action) => counted[action].used),
    [7, 1, 2, 1],
    "republishing counts as publishing, too",
  );

  await exhaust(agent, "manage", 593);
  await exhaust(agent, "report_offer", 29);
  for (const [method, path, body] of [...changes, ["POST", `/v1/offers/${theirs}/report`, report] as const]) {
    const answer = await agent.call(method, path, body);
    isProblem(t, answer, "rate_limited", ["retry_after", "limit"]);
    t.true(answer.body.retry_after > 3500 && answer.body.retry_after <= 3600);
    const [limit, cap] = path.endsWith("/report") ? ["report_offer", 30] : ["manage", 600];
    t.is(
      answer.body.detail,
      `This agent has used its ${cap} calls of this hour under the limit "${limit}" (limits in GET /v1/me). Wait ${answer.body.retry_after} seconds, then try again.`,
    );
    t.is(answer.body.limit, limit);
    t.is(answer.headers["retry-after"], String(answer.body.retry_after));
    const { "ratelimit-limit": most, "ratelimit-remaining": left, "ratelimit-reset": reset } = answer.headers;
    t.deepEqual([most, left], [String(cap), "0"], "the figures of the limit that was hit");
    t.true(Number(reset) > 3500 && Number(reset) <= answer.body.retry_after);
  }
  t.deepEqual((await limits()).publish_offer.used, 2, "a refused call counts in no window");
  t.is((await agent.call("PATCH", `/v1/asks/${ask}`, { text: "Looking for a table" })).status, 200);
});

// ── Idempotency ──────────────────────────────────────────────────────────────────────────────────────────────────────

test("a key is 1 to 255 characters of printable ASCII", async (t) => {
  const agent = await market.agent();
  const send = (key: string) => agent.call("POST", "/v1/asks", { text: "A sofa" }, { "idempotency-key": key });
  for (const key of ["", "a".repeat(256), "é", "a\tb", "\u00a0"]) {
    isProblem(t, await send(key), "bad_request");
  }
  for (const key of ["a", "a".repeat(255), "~!@#$%^&*() \"'\\;--"]) {
    t.is((await send(key)).status, 201, key);
  }
});

// ── Order ────────────────────────────────────────────────────────────────────────────────────────────────────────────

test("if a request can be refused for several reasons, the first in the contract's order is returned", async (t) => {
  const stranger = await market.stranger();
  const agent = await market.agent();
  const key = "in order";
  const first = await agent.call("POST", "/v1/offers", { text: OFFER }, { "idempotency-key": key });
  t.is(first.status, 201);
  await exhaust(agent, "publish_offer", 59);

  const large = `{"text": ${" ".repeat(MB / 4)}`;
  const send = (token: string, raw: string, headers: Record<string, string> = {}) =>
    market.call("POST", "/v1/offers", {
      raw,
      headers: {
        ...as(token),
        "content-type": "application/json",
        "content-length": String(Buffer.byteLength(raw)),
        ...headers,
      },
    });
  const bad = { "idempotency-key": "é", "content-type": "text/plain" };
  const figures = (answer: Answer) => [answer.headers["ratelimit-limit"], answer.headers["ratelimit-remaining"]];

  isProblem(t, await send(newToken(), large, bad), "unauthorized");
  isProblem(t, await send("nonsense", large, bad), "unauthorized");
  const unapproved = await send(stranger.token, large, bad);
  isProblem(t, unapproved, "verification_required", UNAPPROVED);
  t.deepEqual(figures(unapproved), ["60", "60"]);
  for (const [answer, code, more] of [
    [await send(agent.token, large, bad), "payload_too_large", []],
    [await send(agent.token, "{", bad), "unsupported_media_type", []],
    [await send(agent.token, "{", { "idempotency-key": key }), "bad_request", []],
    [await send(agent.token, '{"text": 7}', { "idempotency-key": "é" }), "bad_request", []],
    [await send(agent.token, '{"text": 7}', { "idempotency-key": key }), "idempotency_key_reused", []],
    [await send(agent.token, '{"text": 7}', { "idempotency-key": "new" }), "rate_limited", ["retry_after", "limit"]],
    [await send(agent.token, '{"text": 7}'), "rate_limited", ["retry_after", "limit"]],
  ] as [Answer, ProblemCode, string[]][]) {
    isProblem(t, answer, code, more);
    t.deepEqual(figures(answer), ["60", "0"], "every response except a 401 has RateLimit headers");
  }
  const replay = await send(agent.token, JSON.stringify({ text: OFFER }), { "idempotency-key": key });
  t.deepEqual([replay.status, replay.headers["idempotency-replayed"]], [201, "true"], "a replay is not capped");
  await market.sql("delete from market.rate_limit_hit where scope = 'agent:' || $1", [agent.id]);
  isProblem(t, await send(agent.token, '{"text": 7}'), "bad_request", ["errors"]);
});

// ── 503 and 500 ──────────────────────────────────────────────────────────────────────────────────────────────────────

test.serial("503: while the database cannot answer, Retry-After says how long to wait", async (t) => {
  const agent = await market.agent();
  const other = new pg.Client({ connectionString: market.databaseUrl });
  await other.connect();
  try {
    await other.query("begin; lock table market.ask in access exclusive mode");
    const answer = await agent.call("GET", "/v1/asks");
    isProblem(t, answer, "service_unavailable", ["retry_after"]);
    const line = await eventually(
      async () =>
        (await market.logs()).split("\n").find((one) => one.includes(answer.body.request_id) && one.includes('"err"')),
      (one) => one !== undefined,
    );
    t.like(JSON.parse(line ?? "{}"), { level: "warn", err: { code: "55P03" } });
    await other.query("rollback");
    t.is((await agent.call("GET", "/v1/asks")).status, 200);
  } finally {
    await other.end();
  }
});

test("503: a problem that is logged says what happened", async (t) => {
  const program = `
    import { createLog } from "./src/base/log.ts";
    import { problem } from "./src/base/problem.ts";
    createLog("info").warn({ err: problem("service_unavailable", "The text could not be read in time.") }, "unavailable");`;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", program]);
  t.deepEqual(JSON.parse(stdout).err, {
    type: "Problem",
    code: "service_unavailable",
    message: "The text could not be read in time.",
  });
});

test.serial("500: the response shows nothing of the error, and the log contains it", async (t) => {
  const agent = await market.agent();
  await market.sql("alter function api.list_asks(text, integer, text) rename to list_asks_elsewhere");
  try {
    const answer = await agent.call("GET", "/v1/asks");
    isProblem(t, answer, "internal_error");
    t.is(
      answer.body.detail,
      "Something went wrong on our side. Try once more; if it happens again, report the request_id.",
    );
    t.false(/list_asks|function|42883|select/i.test(answer.text.replace(answer.body.request_id, "")));
    const logged = await eventually(
      async () => (await market.logs()).split("\n").filter((line) => line.includes(answer.body.request_id)),
      (lines) => lines.some((line) => line.includes("list_asks")),
    );
    t.true(logged.length > 0);
  } finally {
    await market.sql("alter function api.list_asks_elsewhere(text, integer, text) rename to list_asks");
  }
});
