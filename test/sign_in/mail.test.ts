import test from "ava";
import { call, connectAgent, eventually, until, wholeLog } from "../support/market.ts";
import { type Letter, smtpError } from "./mailbox.ts";
import { askForMail, type Market, row, signInByMail, startMarket, stranger } from "./market.ts";
import { formsOf, newVisitor, wordsOf } from "./visitor.ts";

/**
 * Mails that the service sends: that an agent was approved, and new matches, from the switch in the settings to the click
 * that stops it. And what happens while the mail server refuses them. The tests are serial, because all share one server.
 */

let market: Market;
test.before(async () => {
  market = await startMarket();
});
test.after.always(() => market?.close());

const approveAs = async (email: string, name: string) => {
  const person = stranger();
  await signInByMail(market, person, email);
  const agent = await connectAgent(market.url, name);
  await person.submit(await person.get(agent.link), agent.code);
  return { agent, person };
};

const noticesTo = (email: string) =>
  market.mail.letters.filter(
    ({ to, parsed }) => to.includes(email) && parsed.subject === "An agent now acts for you on Souk",
  );

const HEADERS = "auto-submitted content-type date from message-id mime-version subject to".split(" ");
const headersOf = ({ parsed }: Letter) => parsed.headers.map(({ key }) => key).sort();

const isNotified = (agent: { id: string }) =>
  row<{ notified: boolean }>(
    market,
    "select notified_at is not null as notified from market.connection where agent_id = $1",
    [agent.id],
  );

test.serial("after an approval, a mail tells the person which agent was approved and how to remove it", async (t) => {
  const { agent } = await approveAs("told@example.com", "Claude");
  const letter = await market.mail.next("told@example.com");
  t.is(letter.parsed.subject, "An agent now acts for you on Souk");
  for (const part of [letter.parsed.text ?? "", letter.parsed.html ?? ""]) {
    t.true(part.includes("Claude"));
    t.true(part.includes(`${market.url}/settings`));
    t.regex(part, /approved on \d{4}-\d\d-\d\d\s+at\s+\d\d:\d\d UTC/);
    t.notRegex(part, /undefined|agt_|\[object/);
  }
  await eventually(
    () => isNotified(agent),
    ({ notified }) => notified,
  );
  t.is(noticesTo("told@example.com").length, 1);
});

test.serial("an agent's name cannot add headers to a mail, and is escaped in its HTML", async (t) => {
  const name = 'Eve" <eve@evil.example>\r\nBcc: eve@evil.example\r\n\r\n<b>Hi</b>';
  await approveAs("injected@example.com", name);
  const letter = await market.mail.next("injected@example.com");
  t.deepEqual(letter.to, ["injected@example.com"]);
  t.deepEqual(headersOf(letter), HEADERS);
  t.is(letter.parsed.subject, "An agent now acts for you on Souk");
  t.deepEqual(letter.parsed.from, { name: "Souk", address: "souk@souk.example" });
  t.false(letter.parsed.html?.includes("<b>Hi") ?? true);
  t.true(letter.parsed.html?.includes("&lt;b&gt;Hi&lt;/b&gt;"));
  t.true(letter.parsed.text?.includes("<b>Hi</b>"));
});

test.serial("if the mail server is down for a while, the mail is sent later", async (t) => {
  market.mail.refuse = smtpError(451, "later");
  const { status } = await askForMail(market, stranger(), "delayed@example.com");
  t.is(status, 503, "a person cannot sign in by mail meanwhile");
  market.mail.refuse = null;
  const person = stranger();
  await signInByMail(market, person, "delayed@example.com");
  const agent = await connectAgent(market.url, "Claude");
  const page = await person.get(agent.link);
  market.mail.refuse = smtpError(451, "later");
  await person.submit(page, agent.code);
  await eventually(
    () =>
      row<{ attempts: number }>(
        market,
        "select coalesce(max(attempts), 0)::integer as attempts from graphile_worker.jobs where task_identifier = 'send_approval_notice'",
      ),
    ({ attempts }) => attempts > 0,
  );
  t.false((await isNotified(agent)).notified);
  market.mail.refuse = null;
  await eventually(
    () => isNotified(agent),
    ({ notified }) => notified,
    20_000,
  );
  t.is(noticesTo("delayed@example.com").length, 1);
});

// ── New matches ──────────────────────────────────────────────────────────────────────────────────────────────────────

/** A title that no reader makes of a text, in case one does. */
const EVIL = "</bdi><script>alert(1)</script> <b>sofa</b>\r\nBcc: eve@evil.example";
const OFFER = "Grey three-seat sofa, good condition, 180 EUR, pick-up in Berlin, write to lena@example.com";

const sql = <Row extends Record<string, unknown>>(text: string, values: unknown[] = []) =>
  row<Row>(market, text, values);

const act = async (token: string, path: string, body: object) => {
  const answer = await call(market.url, "POST", path, { body, headers: { authorization: `Bearer ${token}` } });
  if (answer.status !== 201) throw new Error(answer.text);
  return answer.body;
};

/** A person who gets the digest, and has an ask for a sofa. */
const reader = async (email: string) => {
  const { person, agent } = await approveAs(email, "Claude");
  await person.submit(await person.get(`${market.url}/settings/alerts`), "Switch the mail on");
  const { id: ask } = await act(agent.token, "/v1/asks", { text: "Looking for a grey sofa in Berlin, up to 250 EUR" });
  return { person, ask };
};

const publish = async () => {
  const { agent } = await approveAs(`seller${Math.random()}@example.com`, "Seller");
  const id: string = (await act(agent.token, "/v1/offers", { text: OFFER })).offer_id;
  await sql("update market.offer set title = $2 where id = $1", [id, EVIL]);
  return id;
};

const matched = (ask: string) =>
  eventually(
    () => sql<{ n: number }>("select count(*)::integer as n from market.match where ask_id = $1", [ask]),
    ({ n }) => n > 0,
  );

/** Runs the job that looks for due digests, as the crontab does. */
const look = () => sql("select graphile_worker.add_job('enqueue_digests')");

const isDigest = ({ parsed }: Letter) => /new match/.test(parsed.subject ?? "");

const digestTo = async (email: string): Promise<Letter> => {
  for (;;) {
    const letter = await market.mail.next(email);
    if (isDigest(letter)) return letter;
  }
};

test.serial("new matches come by mail to whoever switched it on; one POST from a mail program stops it", async (t) => {
  const { person, ask } = await reader("tom@example.com");
  await publish();
  await matched(ask);
  await look();
  const letter = await digestTo("tom@example.com");
  t.deepEqual(letter.to, ["tom@example.com"]);
  t.is(letter.parsed.subject, "One new match on Souk");
  const header = (name: string) => letter.parsed.headers.find(({ key }) => key === name)?.value;
  t.deepEqual(headersOf(letter), [...HEADERS, "list-unsubscribe", "list-unsubscribe-post"].sort());
  t.is(header("list-unsubscribe-post"), "List-Unsubscribe=One-Click");
  const link = /^<(http.*)>$/.exec(header("list-unsubscribe") ?? "")?.[1] ?? "";
  t.regex(link, /\/stop-mail\/[\w-]{36}\/[0-9a-f]{32}$/);
  const { html = "", text = "" } = letter.parsed;
  for (const part of [html, text]) {
    t.true(part.includes(`${market.url}/settings/alerts`));
    t.true(part.includes(link));
    t.regex(part, /180 EUR/);
    t.notRegex(part, /undefined|null|\[object|agt_/);
    t.false(part.includes("lena@example.com"), "the contact is for the person's agent");
  }
  t.notRegex(html, /<script|<b>/i);
  t.true(html.includes("&lt;script&gt;"));

  // Programs that check links open them, and must not stop the mail.
  const page = await fetch(link);
  t.is(page.status, 200);
  t.is(page.headers.get("cache-control"), "no-store");
  t.true((await page.text()).includes("Stop this mail"));
  t.is((await fetch(link, { method: "HEAD" })).status, 200);
  const enabled = async () => {
    const { text: shown } = await person.get(`${market.url}/settings/alerts`);
    return shown.includes("Switch the mail off");
  };
  t.true(await enabled());
  const post = (url: string, body: string) =>
    fetch(url, { method: "POST", body, headers: { "content-type": "application/x-www-form-urlencoded" } });
  t.is((await post(link, "")).status, 400, "not what RFC 8058 sends");
  t.is((await post(`${link.slice(0, -1)}g`, "List-Unsubscribe=One-Click")).status, 404);
  t.is((await post(`${market.url}/stop-mail/x/y`, "List-Unsubscribe=One-Click")).status, 404);
  t.true(await enabled());
  const stopped = await post(link, "List-Unsubscribe=One-Click");
  t.is(stopped.status, 200);
  t.is(stopped.headers.get("set-cookie"), null);
  t.true((await stopped.text()).includes("You get no more mail about matches"));
  t.false(await enabled());
  t.is((await post(link, "List-Unsubscribe=One-Click")).status, 200, "again it changes nothing");
});

test.serial(
  "what waits for a person, and what is unread, come by mail without a stranger's words but the title",
  async (t) => {
    const email = "deals@example.com";
    const { agent, person } = await approveAs(email, "Lena's");
    await person.submit(await person.get(`${market.url}/settings/alerts`), "Switch the mail on");
    const offer: string = (await act(agent.token, "/v1/offers", { text: OFFER })).offer_id;
    await sql("update market.offer set title = $2 where id = $1", [offer, EVIL]);
    const { agent: toms } = await approveAs("toms@example.com", "Tom's");
    const talk = await act(toms.token, `/v1/offers/${offer}/conversations`, {
      text: "Zanzibar?",
      proposal: { price: { amount: 150, currency: "EUR" }, handover: { method: "pickup" }, note: "Zanzibar" },
      contact: "zanzibar@example.com",
    });
    await look();
    const next = async (subject: string) => {
      for (;;) {
        const letter = await market.mail.next(email);
        if (letter.parsed.subject === subject) return letter;
      }
    };
    const digest = await next("News in one conversation on Souk");
    const { body } = await agent.call("POST", `/v1/conversations/${talk.id}/proposals/${talk.proposal.id}/accept`);
    const asked = await next("An agreement waits for you on Souk");
    t.deepEqual(headersOf(asked), HEADERS);
    for (const [{ parsed }, link] of [
      [digest, `/settings/conversations/${talk.id}`],
      [asked, `/confirmations/${body.agreement.confirmation.id}`],
    ] as const)
      for (const part of [parsed.html ?? "", parsed.text ?? ""]) {
        t.true(part.includes(`${market.url}${link}`));
        t.true(part.includes(`${market.url}/settings/alerts`));
        t.notRegex(part, /zanzibar|undefined|null|\[object|agt_/i);
      }
    for (const { parsed } of [digest, asked]) t.notRegex(parsed.html ?? "", /<script|<b>/i);
    t.regex(digest.parsed.text ?? "", /: 2 unread/);
  },
);

test.serial("an address that the mail server refuses permanently is not tried again for a day", async (t) => {
  const { ask } = await reader("gone@example.com");
  await publish();
  await matched(ask);
  market.mail.refuse = smtpError(550, "no such user gone@example.com");
  await look();
  const later =
    "select count(*)::integer as n from market.digest where mail_id is not null and due_at > now() + interval '20 hours'";
  t.is(
    (
      await eventually(
        () => sql<{ n: number }>(later),
        ({ n }) => n === 1,
      )
    ).n,
    1,
  );
  market.mail.refuse = null;
});

test.serial("no address, title or key of a digest is in the log", async (t) => {
  const logs = await wholeLog(market.service);
  t.true(logs.includes("a mail was not sent"));
  t.true(logs.includes("stopDigest"));
  const [, key = ""] = /stop-mail\/[\w-]{36}\/([0-9a-f]{32})/.exec(market.mail.letters.find(isDigest)?.raw ?? "") ?? [];
  t.not(key, "");
  for (const secret of [key, "tom@example.com", "gone@example.com", "sofa", "alert(1)"])
    t.false(logs.includes(secret), secret);
});

// ── Refusals ─────────────────────────────────────────────────────────────────────────────────────────────────────────

test.serial("if the mail server is down, a 503 page keeps what was typed and the log names no address", async (t) => {
  market.mail.refuse = smtpError(451, "4.7.1 <unlucky@example.com>: try later");
  t.teardown(async () => {
    market.mail.refuse = null;
  });
  const person = stranger();
  for (let times = 0; times < 5; times += 1) {
    t.is((await askForMail(market, person, "unlucky@example.com")).status, 503);
  }
  const page = await askForMail(market, person, "unlucky@example.com");
  t.is(page.status, 503, "a mail that was not sent does not count");
  t.is(page.headers.get("retry-after"), "60");
  t.true(wordsOf(page).includes("The mail could not be sent."));
  t.is(formsOf(page).find(({ holds }) => holds.has("email"))?.fields["email"], "unlucky@example.com");
  const knocking = "198.51.100.7";
  market.mail.refuse = smtpError(550, "5.1.1 <nobody@example.com>: no such user");
  const unknown = await askForMail(market, newVisitor(knocking), "nobody@example.com");
  t.is(unknown.status, 400);
  t.true(wordsOf(unknown).includes("The mail server does not know this address."));
  const counted = "select count(*)::integer as count from market.rate_limit_hit where scope = 'address:' || $1";
  t.is((await row<{ count: number }>(market, counted, [knocking])).count, 1, "a mail to a refused address counts");
  // The line may still be on its way from the process.
  await until(() => market.service.logs().includes("a mail was not sent"));
  t.notRegex(market.service.logs(), /@example\.com/);
});
