import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import test from "ava";
import { manageModerators, newModeratorLink } from "../../src/admin/moderator.ts";
import { hashSecret } from "../../src/base/tokens.ts";
import type { View } from "../sign_in/visitor.ts";
import { call, wholeLog } from "../support/market.ts";
import { type AdminFixture, browserOf, openOwnAdminFixture, sameOrigin } from "./fixture.ts";

/** Tests how a moderator is appointed: from the command line, or by the link that a first start gives. */

const MAIN = fileURLToPath(new URL("../../src/main.ts", import.meta.url));

let fixture: AdminFixture;
test.before(async () => {
  fixture = await openOwnAdminFixture();
});
test.after.always(() => fixture?.stop());

/** What `npm run moderator -- ...` says, and its exit code. */
const moderator = async (...args: string[]): Promise<{ code: number; out: string }> => {
  const { ok, text } = await manageModerators(fixture.databaseUrl, args);
  return { code: ok ? 0 : 1, out: text };
};

test.serial("the command prints what it did, and ends with its exit code", async (t) => {
  const env = { PATH: process.env["PATH"], DATABASE_URL: fixture.databaseUrl };
  const run = (...args: string[]) => promisify(execFile)(process.execPath, [MAIN, "moderator", ...args], { env });
  t.is((await run("list")).stdout, "There is no moderator.\n");
  const failed = await t.throwsAsync(run("add", "nobody@example.com"));
  t.like(failed, { code: 1 });
  t.regex(String(failed), /Nobody has proved the mailbox/);
});

const isAdmitted = async (cookie: string) =>
  (await fixture.call("GET", "/admin", { headers: { cookie } })).status === 200;

test.serial("an account is appointed by its id, listed, and dismissed", async (t) => {
  const { account, cookie } = await fixture.person();
  t.deepEqual(await moderator("list"), { code: 0, out: "There is no moderator.\n" });
  t.deepEqual(await moderator("add", account), {
    code: 0,
    out: `${account} is a moderator now: /admin, after signing in.\n`,
  });
  t.true(await isAdmitted(cookie));
  t.deepEqual(await moderator("add", account), { code: 0, out: `${account} was a moderator already.\n` });
  t.regex((await moderator("list")).out, new RegExp(`^${account}  \\d{4}-\\d\\d-\\d\\d  by \\w+\\n$`));
  t.deepEqual(await moderator("remove", account), { code: 0, out: `${account} is no moderator any more.\n` });
  t.false(await isAdmitted(cookie));
  t.deepEqual(await moderator("remove", account), { code: 1, out: `${account} is no moderator.\n` });
});

test.serial("an account is appointed by its proved e-mail address, in any spelling", async (t) => {
  const { account, cookie } = await fixture.person();
  await fixture.sql(
    "insert into market.proved_method (account_id, method, subject_hash, email) values ($1, 'email', $2, 'mo@example.com')",
    [account, hashSecret("email:mo@example.com")],
  );
  t.is((await moderator("add", " Mo@Example.com")).code, 0);
  t.true(await isAdmitted(cookie));
  t.is((await moderator("remove", "mo@example.com")).code, 0);
});

test.serial("a refused appointment says why", async (t) => {
  const nobody = "01979e5b-1c2d-7a3b-8c4d-5e6f7a8b9c0e";
  t.deepEqual(await moderator("add", nobody), { code: 1, out: `There is no account ${nobody}.\n` });
  t.regex((await moderator("add", "nobody@example.com")).out, /^Nobody has proved the mailbox nobody@example\.com\./);
  const [unclaimed] = await fixture.sql("insert into market.account default values returning id");
  t.regex((await moderator("add", unclaimed?.["id"])).out, /^Nobody has approved an agent of the account /);
  const [one, two] = [await fixture.person(), await fixture.person()];
  for (const [{ account }, method] of [
    [one, "google"],
    [two, "apple"],
  ] as const) {
    await fixture.sql(
      "insert into market.proved_method (account_id, method, subject_hash, email) values ($1, $2, $3, 'both@example.com')",
      [account, method, hashSecret(account)],
    );
  }
  const both = await moderator("add", "both@example.com");
  t.is(both.code, 1);
  t.true(both.out.includes(one.account) && both.out.includes(two.account), both.out);
  for (const args of [[], ["add"], ["promote", nobody], ["list", "all"], ["add", nobody, nobody]])
    t.like(await moderator(...args), { code: 1 }, args.join(" "));
});

test.serial("if several people press the link's button at once, exactly one is appointed", async (t) => {
  const link = (await newModeratorLink(fixture.databaseUrl, fixture.url)) ?? "";
  const people = await Promise.all(
    Array.from({ length: 6 }, async () => browserOf(fixture.url, await fixture.person())),
  );
  const pages = await Promise.all(people.map((person) => person.get(link)));
  const answers = people.map((person, n) => person.send(pages[n] as View, "Become a moderator"));
  const statuses = (await Promise.all(answers)).map(({ status }) => status).toSorted();
  t.deepEqual(statuses, [303, 404, 404, 404, 404, 404]);
  t.deepEqual(await fixture.sql("select count(*)::integer as n from market.moderator"), [{ n: 1 }]);
  t.is(await newModeratorLink(fixture.databaseUrl, fixture.url), null, "there is a moderator, so there is no new link");
  await fixture.sql("delete from market.moderator");
});

test.serial("only the latest link works, until it expires, and only with the form of its own page", async (t) => {
  const newLink = async () => new URL((await newModeratorLink(fixture.databaseUrl, fixture.url)) ?? "").pathname;
  const [first, second] = [await newLink(), await newLink()];
  const status = async (path: string) => (await fixture.call("GET", path)).status;
  t.deepEqual([await status(first), await status(second)], [404, 200]);
  const headers = { "content-type": "application/x-www-form-urlencoded", ...sameOrigin(fixture.url) };
  t.is((await fixture.call("POST", second, { raw: "token=x", headers })).status, 400);
  const [{ kept }] = await fixture.sql("select string_agg(l::text, '') as kept from market.moderator_link l");
  const secret = second.split("/").at(-1) ?? "";
  t.false(kept.includes(secret) || (await wholeLog(fixture)).includes(secret), "its secret is kept nowhere");
  await fixture.sql("update market.moderator_link set expires_at = now()");
  t.is(await status(second), 404);
});

test.serial("an unused link ends when somebody is appointed, even if they are dismissed again", async (t) => {
  await fixture.sql("delete from market.moderator");
  const link = (await newModeratorLink(fixture.databaseUrl, fixture.url)) ?? "";
  const path = new URL(link).pathname;
  t.is((await call(fixture.url, "GET", path)).status, 200);
  const { account } = await fixture.person();
  t.true((await manageModerators(fixture.databaseUrl, ["add", account])).ok);
  t.is((await call(fixture.url, "GET", path)).status, 404);
  t.true((await manageModerators(fixture.databaseUrl, ["remove", account])).ok);
  t.is((await call(fixture.url, "GET", path)).status, 404);
});

test.serial("a suspended account cannot be appointed, and a suspended moderator loses access", async (t) => {
  const suspend = (account: string) =>
    fixture.sql(
      "update market.account set suspended_at = now(), suspension_reason = 'scam', suspension_note = 'x' where id = $1",
      [account],
    );
  const { account } = await fixture.person();
  await suspend(account);
  const refused = await manageModerators(fixture.databaseUrl, ["add", account]);
  t.false(refused.ok);
  t.regex(refused.text, /is suspended/);
  await t.throwsAsync(
    fixture.sql("insert into market.moderator (account_id, appointed_by) values ($1, 'a test')", [account]),
  );

  const moderator = await fixture.moderator();
  t.is((await moderator.graphql("{ viewer { name } }")).status, 200);
  await suspend(moderator.account);
  t.is((await moderator.graphql("{ viewer { name } }")).status, 404);
});
