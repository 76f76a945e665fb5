import test from "ava";
import { ENDPOINTS } from "../../src/api/endpoints.ts";
import { call } from "../support/market.ts";
import { type Market, NOTHING, openMarket } from "./contract.ts";
import { modern } from "./mcp.ts";

/** Pages of other sites: what a browser lets them ask and read. */

let market: Market;
test.before(async () => {
  market = await openMarket();
});
test.after.always(() => market?.stop());

const ORIGIN = { origin: "https://agent.example" };

/** The open paths, each with its methods. */
const METHODS = new Map<string, string>([
  ...[...Map.groupBy(ENDPOINTS, ({ path }) => path)].map(([path, endpoints]): [string, string] => {
    const methods = endpoints.map(({ method }) => method.toUpperCase());
    return [
      path.replace(/\{\w+\}/, NOTHING),
      [...methods, ...(methods.includes("GET") ? ["HEAD"] : [])].sort().join(", "),
    ];
  }),
  ["/mcp", "POST"],
  ["/oauth/token", "POST"],
  ["/oauth/register", "POST"],
  ["/oauth/revoke", "POST"],
  ["/llms.txt", "GET, HEAD"],
  ["/.well-known/oauth-protected-resource/mcp", "GET, HEAD"],
  ["/.well-known/oauth-authorization-server", "GET, HEAD"],
  ["/.well-known/agent-skills/index.json", "GET, HEAD"],
  ["/.well-known/mcp/server-card.json", "GET, HEAD"],
  // Otherwise the page would not learn that nothing is there.
  ["/v1/nothing", "DELETE, GET, HEAD, PATCH, POST"],
]);

const CLOSED = ["/", "/settings", "/oauth/authorize", "/connect/x", "/docs", "/admin", "/healthz", "/v10", "/mcp/sse"];

/** The headers of an answer that concern pages of other sites. */
const shared = (headers: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith("access-control-")));

const EXPOSED = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers":
    "Request-Id, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, Retry-After, Idempotency-Replayed, WWW-Authenticate, ETag, Allow, Mcp-Session-Id, MCP-Protocol-Version",
};

const preflight = (path: string) =>
  call(market.url, "OPTIONS", path, {
    headers: {
      ...ORIGIN,
      "access-control-request-method": "POST",
      "access-control-request-headers": "authorization,content-type",
    },
  });

test("a page of any site may make every call that a program makes, and nothing else", async (t) => {
  for (const [path, methods] of METHODS) {
    const { status, text, headers } = await preflight(path);
    t.deepEqual(
      [status, text, shared(headers)],
      [
        204,
        "",
        {
          ...EXPOSED,
          "access-control-allow-methods": methods,
          "access-control-allow-headers":
            "Authorization, Content-Type, Idempotency-Key, If-None-Match, Last-Event-ID, Mcp-Method, Mcp-Name, MCP-Protocol-Version, Mcp-Session-Id, *",
          "access-control-max-age": "86400",
        },
      ],
      path,
    );
  }
  for (const path of CLOSED)
    for (const answer of [await preflight(path), await call(market.url, "GET", path, { headers: ORIGIN })])
      t.deepEqual(shared(answer.headers), {}, path);
});

test("a page of another site reads answers, and refusals as well", async (t) => {
  const { token } = await market.stranger();
  const authorization = { authorization: `Bearer ${token}` };
  const large = { query: "x".repeat(2 * 1024 * 1024) };
  for (const [status, method, path, options] of [
    [200, "GET", "/v1", {}],
    [200, "GET", "/llms.txt", {}],
    [200, "GET", "/.well-known/oauth-protected-resource", {}],
    [200, "POST", "/mcp", { ...modern("tools/list"), headers: { ...modern("tools/list").headers, ...authorization } }],
    [200, "POST", "/v1/offers/search", { body: { query: "sofa" }, headers: authorization }],
    [400, "GET", "/v1/offers/%zz", {}],
    [401, "GET", "/v1/me", {}],
    [401, "POST", "/mcp", modern("tools/list")],
    [403, "POST", "/v1/offers", { body: { text: "Sofa" }, headers: authorization }],
    [404, "GET", "/v1/nothing", {}],
    [404, "GET", "/.well-known/openid-configuration", {}],
    [405, "PUT", "/v1", {}],
    [413, "POST", "/v1/offers/search", { body: large, headers: authorization }],
    [415, "POST", "/oauth/token", { body: {} }],
  ] as const) {
    const answer = await call(market.url, method, path, { ...options, headers: { ...options.headers, ...ORIGIN } });
    t.deepEqual([answer.status, shared(answer.headers)], [status, EXPOSED], `${method} ${path}`);
  }
});
