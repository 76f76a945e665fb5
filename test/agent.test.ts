import { spawn } from "node:child_process";
import { chmod, mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import test, { type ExecutionContext } from "ava";
import { keptSessions } from "./support/client.ts";
import { createDatabase } from "./support/database.ts";
import { approveLink, call, connectedAgent, eventually, sessionOf } from "./support/market.ts";
import { type Service, startService } from "./support/service.ts";

/** The agent that is a program (`npm run agent`), as a person uses it, against a real service. */

// Its agent looks at the whole market, so that of other tests would be in its way.
let service: Service & { database: string };
test.before(async () => {
  const { url: database } = await createDatabase();
  service = { ...(await startService({ database })), database };
});
test.after.always(() => service?.stop());

const MAIN = fileURLToPath(new URL("../src/main.ts", import.meta.url));

/** A person's computer: a folder for settings, and a terminal in which the agent runs. */
const computer = async (t: ExecutionContext) => {
  const home = await mkdtemp(join(tmpdir(), "souk-agent-"));
  t.teardown(() => rm(home, { recursive: true }));
  const folder = join(home, "souk");
  const run = (...args: string[]) => {
    const env = { PATH: process.env["PATH"], XDG_CONFIG_HOME: home, SOUK_URL: `${service.url}/` };
    const child = spawn(process.execPath, [MAIN, "agent", ...args], { env });
    t.teardown(() => void child.kill("SIGKILL"));
    let printed = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (printed += text));
    const ended = new Promise<{ code: number | null; printed: string }>((resolve) =>
      child.once("close", (code) => resolve({ code, printed })),
    );
    const says = (words: RegExp) =>
      eventually(
        async () => printed,
        (text) => words.test(text),
      );
    return { child, ended, says };
  };
  const file = async () => join(folder, (await readdir(folder))[0] ?? "no file");
  const approve = async (text: string) =>
    approveLink(service.database, /http\S+\/connect\/\S+/.exec(text)?.[0] ?? "no link");
  return { run, file, approve };
};

test("it connects once, waits for the person, publishes what has a contact, and follows what happens", async (t) => {
  const { run, file, approve } = await computer(t);
  const first = run("sell my grey sofa, 180 EUR, Berlin, lena@example.com");
  const asked = await first.says(/code [A-Z]{4}-[A-Z]{4}/);
  t.false(/Published/.test(asked));
  t.false(/agt_/.test(asked), "the token is not printed");
  const { mode } = await stat(await file());
  t.is(mode & 0o777, 0o600);
  await approve(asked);
  const published = await first.says(/Press Ctrl-C/);
  t.regex(published, /Approved\.[\s\S]*Published:[\s\S]*sofa[\s\S]*180 EUR[\s\S]*Berlin[\s\S]*lena@example\.com/);
  first.child.kill("SIGINT");
  await first.ended;

  const { token } = JSON.parse(await readFile(await file(), "utf8"));
  const { body } = await call(service.url, "GET", "/v1/offers", { headers: { authorization: `Bearer ${token}` } });
  t.is(body.results.length, 1);
  const { code, printed } = await run("me").ended;
  t.is(code, 0);
  t.regex(printed, /approved by its person[\s\S]*1 published/);
});

test("what asks or has no contact is looked for and asked for, and a later offer that matches is printed", async (t) => {
  const { run, approve } = await computer(t);
  const wanted = run("Looking for a cello, up to 900 EUR");
  const asked = await wanted.says(/code [A-Z]{4}-[A-Z]{4}/);
  t.regex(asked, /looks for something[\s\S]*Nothing like that is offered yet/, "searching needs no approval");
  await approve(asked);
  await wanted.says(/Nothing matches yet[\s\S]*Press Ctrl-C/);
  const seller = await connectedAgent(service.url, service.database);
  const offer = await seller.call("POST", "/v1/offers", {
    text: "Old cello \u001b[31mfor sale, 800 EUR, in Bonn. Write to cello@example.com",
  });
  t.is(offer.status, 201);
  const told = await wanted.says(/cello@example\.com/);
  t.regex(told, /800 EUR · Bonn · cello@example\.com/);
  t.true(told.includes(offer.body.offer_id));
  t.false(told.includes("\u001b"), "strangers cannot control the terminal");
  wanted.child.kill("SIGINT");

  t.regex((await run("search", "cello").ended).printed, /Offered:[\s\S]*cello@example\.com/);
  t.regex((await run("matches").ended).printed, /cello@example\.com/);
  t.regex((await run("ask", "Looking for a cello").ended).printed, /Asked: [\s\S]*cello@example\.com/);
  t.regex(await run("Old cello").says(/Nothing matches|cello@/), /has no contact/);
  const { code, printed } = await run("publish", "Old cello, 700 EUR").ended;
  t.deepEqual([code, /names no way to reach the publisher/.test(printed)], [1, true]);
});

test("where the market has an event feed, it prints the events from before it acted on", async (t) => {
  const { run, approve } = await computer(t);
  const seller = await connectedAgent(service.url, service.database);
  const text = "Four winter tyres for sale, 500 EUR, in Bonn. Write to tyres@example.com";
  const { body } = await seller.call("POST", "/v1/offers", { text });
  const data = { offer_id: body.offer_id, score: 0.9 };
  const asked: (string | null)[] = [];
  // A market whose feed is prepared, and which is the real service in everything else.
  const market = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "", service.url);
    response.setHeader("Content-Type", "application/json");
    if (pathname === "/v1/events") {
      asked.push(searchParams.get("after"));
      const event = { id: "1", type: "match.created", occurred_at: "2026-06-01T09:30:00.000Z", data };
      if (asked.length > 2) return;
      return void response.end(
        JSON.stringify({ events: asked.length === 2 ? [event] : [], cursor: `c${asked.length}`, has_more: false }),
      );
    }
    const { method = "GET", headers } = request;
    const sent = await buffer(request);
    const { authorization = "" } = headers;
    const answer = await fetch(service.url + request.url, {
      method,
      headers: { authorization, ...(sent.length > 0 ? { "content-type": "application/json" } : {}) },
      ...(sent.length > 0 ? { body: sent } : {}),
    });
    response.writeHead(answer.status).end(await answer.text());
  });
  await new Promise<void>((resolve) => market.listen(0, "127.0.0.1", resolve));
  t.teardown(() => void market.close());
  const { port } = market.address() as AddressInfo;
  const wanted = run("Looking for a zither", "--url", `http://127.0.0.1:${port}`);
  await approve(await wanted.says(/code [A-Z]{4}-[A-Z]{4}/));
  await wanted.says(/match\.created[\s\S]*Bonn · tyres@example\.com/);
  await eventually(
    async () => asked.length,
    (times) => times > 2,
  );
  t.deepEqual(asked.slice(0, 3), ["now", "c1", "c2"]);
});

/** Confirms the agreement of a conversation for the person who approved the agent of a link, by SQL. */
const confirmFor = async (link: string, confirmation: string): Promise<void> => {
  const [{ page } = { page: null }] = (
    await keptSessions(service.database).query<{ page: { digest: string } }>(
      "select api.get_confirmation_page($2) as page from internal.enter_person($1) as entered where entered",
      [sessionOf(link), confirmation],
    )
  ).rows;
  await keptSessions(service.database).query(
    "select api.decide_confirmation($2, 'confirm', $3) from internal.enter_person($1) as entered where entered",
    [sessionOf(link), confirmation, page?.digest],
  );
};

test("it buys: it proposes to the best offer that fits, accepts a counterproposal within the limit, and lets its person confirm", async (t) => {
  const { run, approve } = await computer(t);
  const seller = await connectedAgent(service.url, service.database);
  const publish = (price: string) =>
    seller.call("POST", "/v1/offers", { text: `Cargo bike, ${price}, in Bonn. Write to bike@example.com` });
  await publish("1900 EUR");
  const { body: offer } = await publish("1200 EUR");
  const buying = run("buy a cargo bike in Bonn, up to 1500 EUR", "--contact", "tom@example.com");
  const asked = await buying.says(/code [A-Z]{4}-[A-Z]{4}/);
  await approve(asked);
  t.regex(await buying.says(/Waiting for the answer/), /Proposing 1200 EUR for:[\s\S]*bike@example\.com/);
  const { results } = (await seller.call("GET", `/v1/offers/${offer.offer_id}/proposals`)).body;
  t.is(results.length, 1);
  const path = `/v1/conversations/${results[0].conversation_id}`;
  const terms = (amount: number) => ({ price: { amount, currency: "EUR" }, handover: { method: "pickup" } });
  await seller.call("POST", path, { text: "It is nearly new.", proposal: terms(1400) });
  const told = await buying.says(/\/confirmations\/\S+/);
  t.regex(told, /They write: It is nearly new\.[\s\S]*1400[\s\S]*Accepted\.[\s\S]*confirm what is agreed/);
  const [theirs] = (await seller.call("GET", "/v1/me")).body.pending_confirmations;
  await confirmFor(seller.link, theirs.id);
  const own = /\/confirmations\/([0-9a-f-]{36})/.exec(told)?.[1] ?? "no id";
  await confirmFor(/http\S+\/connect\/\S+/.exec(asked)?.[0] ?? "no link", own);
  const { code, printed } = await buying.ended;
  t.deepEqual([code, /Agreed\. Reach them by bike@example\.com\n$/.test(printed)], [0, true], printed);
  t.is((await seller.call("GET", path)).body.contact.text, "tom@example.com");

  const dearer = run("buy a cargo bike in Bonn, up to 1500 EUR", "--contact", "tom@example.com");
  await dearer.says(/Waiting for the answer/);
  await seller.call("POST", `${path}/proposals`, terms(1600));
  t.regex((await dearer.ended).printed, /1600[\s\S]*Declined\.[\s\S]*Nothing was agreed/);
});

test("in a sandbox it needs no person, and keeps its token apart from that for the market", async (t) => {
  const { run, file } = await computer(t);
  const published = await run("publish", "Grey sofa, 180 EUR, Berlin, lena@example.com", "--sandbox").ended;
  t.is(published.code, 0);
  t.regex(published.printed, /^Published:/);
  t.regex(await file(), /\.sandbox\.json$/);
  const { printed } = await run("me", "--sandbox").ended;
  t.regex(printed, /in sandbox [0-9a-f-]{36}\n[\s\S]*offers +1 published/);
});

test("a person who does not want the agent is not asked again with the same link", async (t) => {
  const { run, file } = await computer(t);
  const offering = run("publish", "Kite, 20 EUR, kite@example.com");
  await offering.says(/code/);
  const { link } = JSON.parse(await readFile(await file(), "utf8"));
  const page = await fetch(link);
  const token = /name="token" value="([^"]+)"/.exec(await page.text())?.[1] ?? "";
  await fetch(link, {
    method: "POST",
    headers: {
      origin: service.url,
      cookie: page.headers
        .getSetCookie()
        .map((one) => one.split(";")[0])
        .join("; "),
    },
    body: new URLSearchParams({ token, decision: "decline" }),
  });
  const { code, printed } = await offering.ended;
  t.deepEqual([code, /Run the command again/.test(printed)], [1, true]);
  await t.throwsAsync(async () => readFile(await file()), { code: "ENOENT" }, "the agent is forgotten");
});

test("an agent that was removed connects again", async (t) => {
  const { run, file } = await computer(t);
  await run("me").ended;
  const before = JSON.parse(await readFile(await file(), "utf8"));
  const removed = { headers: { authorization: `Bearer ${before.token}` } };
  t.is((await call(service.url, "DELETE", "/v1/me/agent", removed)).status, 204);
  t.regex((await run("me").ended).printed, /was removed[\s\S]*not approved yet/);
  t.not(JSON.parse(await readFile(await file(), "utf8")).token, before.token);
});

test("a token that others can read is not used", async (t) => {
  const { run, file } = await computer(t);
  await run("me").ended;
  await chmod(await file(), 0o644);
  const { code, printed } = await run("me").ended;
  t.is(code, 1);
  t.regex(printed, /chmod 600/);
});

test("a market that does not answer, and a command without a text, get a sentence that helps", async (t) => {
  const { run } = await computer(t);
  const { code, printed } = await run("me", "--url", "http://127.0.0.1:9").ended;
  t.deepEqual([code, printed.includes("No market answers at http://127.0.0.1:9.")], [1, true]);
  for (const args of [[], ["publish"], ["--help"]]) t.regex((await run(...args).ended).printed, /^Usage: /);
});
