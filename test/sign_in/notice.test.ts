import test from "ava";
import { call, connectAgent, eventually } from "../support/market.ts";
import { smtpError } from "./mailbox.ts";
import { askForMail, type Market, row, signInByMail, startMarket, stranger } from "./market.ts";

/** Tests the mail that tells a person that an agent was approved in their name. */

let market: Market;
test.before(async () => {
  market = await startMarket();
});
test.after.always(() => market?.close());

const approveAs = async (email: string, name: string) => {
  const person = stranger();
  await signInByMail(market, person, email);
  const agent = await connectAgent(market.url, name);
  const page = await person.get(agent.link);
  const answer = await person.submit(page, "Approve");
  return { agent, person, answer };
};

const noticesTo = (email: string) =>
  market.mail.letters.filter(
    ({ to, parsed }) => to.includes(email) && parsed.subject === "An agent now acts for you on Souk",
  );

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
  t.deepEqual(letter.parsed.headers.map(({ key }) => key).sort(), [
    "auto-submitted",
    "content-type",
    "date",
    "from",
    "message-id",
    "mime-version",
    "subject",
    "to",
  ]);
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
  await person.submit(page, "Approve");
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

test.serial("an account without an e-mail address gets no mail", async (t) => {
  const person = stranger();
  const agent = await connectAgent(market.url, "Silent");
  await person.submit(await person.get(agent.link), "Approve");
  t.is((await call(market.url, "GET", "/v1/me", { headers: { authorization: `Bearer ${agent.token}` } })).status, 200);
  await eventually(
    () =>
      row<{ count: number }>(
        market,
        "select count(*)::integer as count from graphile_worker.jobs where task_identifier = 'send_approval_notice'",
      ),
    ({ count }) => count === 0,
  );
  t.false((await isNotified(agent)).notified);
});
