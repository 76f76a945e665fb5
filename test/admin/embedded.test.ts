import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import test from "ava";
import { newVisitor, type Visitor } from "../sign_in/visitor.ts";
import { connectAgent, eventually, SOFA, until } from "../support/market.ts";
import { type Service, startService } from "../support/service.ts";

/** The link, with a secret of 32 bytes in base64url. */
const LINK = /^http:\/\/127\.0\.0\.1:\d+\/moderator\/[\w-]{43}$/;

/** Tests what a person does who tries `npm start`: they become the moderator and decide on a reported offer. */

/** The link that the service printed, or the file with it. */
const shownLink = async (service: Service): Promise<string> => {
  const logs = await eventually(
    async () => service.logs(),
    (text) => / {2}Stop {2}/.test(text),
  );
  return /Moderate\s+(.*?) {2}\(once/.exec(logs)?.[1] ?? "";
};

/** The files of a folder that contain a string. */
const filesWith = async (folder: string, wanted: string): Promise<string[]> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const found: string[] = [];
  for (const file of files) if ((await readFile(file)).includes(wanted)) found.push(relative(folder, file));
  return found;
};

test("on a bare machine, the first start gives a link that makes one person a moderator", async (t) => {
  // The test starts an embedded database up to four times, on a busy machine.
  t.timeout(300_000);
  const dataDir = await mkdtemp(join(tmpdir(), "souk-moderated-"));
  t.teardown(() => rm(dataDir, { recursive: true, force: true }));
  const options = { database: "", env: { DATA_DIR: dataDir, LOG_LEVEL: "trace" } };
  const file = join(dataDir, "moderator-link");

  // `script` runs the command in a terminal of its own.
  const command = ["script", "--quiet", "--return", "--command", "exec npm start", "/dev/null"] as const;
  const inTerminal = await startService({ ...options, command }, t);
  const printed = await shownLink(inTerminal);
  t.regex(printed, LINK, "a terminal shows the link");
  t.false(existsSync(file));
  await inTerminal.stop();

  const service = await startService(options, t);
  t.is(await shownLink(service), `the link in ${file}`, "other output may be kept as a log, so it only names a file");
  t.is(((await stat(file)).mode & 0o777).toString(8), "600");
  const link = (await readFile(file, "utf8")).trimEnd();
  t.regex(link, LINK);
  const { pathname } = new URL(link);
  const secret = pathname.split("/").at(-1) ?? "";
  t.is((await newVisitor().get(service.url + new URL(printed).pathname)).status, 404, "a new link ends the one before");

  const stranger = newVisitor();
  const status = async (who: Visitor, path: string) => (await who.get(service.url + path)).status;
  t.is(await status(stranger, "/admin"), 404);
  const browser = newVisitor();
  t.is(await status(browser, pathname), 200);
  const page = await browser.get(link);
  t.is(page.status, 200, "opening the link does not use it up");
  t.is(await status(browser, "/admin"), 404, "opening the link appoints nobody");
  const accepted = await browser.send(page, "Become a moderator");
  t.deepEqual([accepted.status, accepted.headers.get("location")], [303, "/admin"]);
  t.is(await status(stranger, pathname), 404, "the link works once");
  t.is(await status(stranger, "/admin"), 404);

  const approved = async (name: string) => {
    const agent = await connectAgent(service.url, name);
    const person = newVisitor();
    t.is((await person.submit(await person.get(agent.link), agent.code)).status, 200);
    return agent;
  };
  const [owner, reporter] = [await approved("Owner"), await approved("Reporter")];
  const { body: offer } = await owner.call("POST", "/v1/offers", { text: SOFA });
  await reporter.call("POST", `/v1/offers/${offer.offer_id}/report`, {
    reason: "scam",
    comment: "Asks for money first.",
  });

  const path = `/admin/offers/${offer.offer_id}`;
  const shows = async (at: string, words: string) => (await browser.get(service.url + at)).text.includes(words);
  /** Presses a button of a page. */
  const press = async (at: string, button: string, fields: Record<string, string> = {}) => {
    const answer = await browser.send(await browser.get(service.url + at), button, fields);
    return [answer.status, answer.headers.get("location")];
  };
  t.true(await shows("/admin?queue=reported", path));
  // The service offers e-mail, so a decision needs a proved address. Without a mail server the code is in the mailbox.
  t.is((await press(path, "Keep"))[0], 403);
  const adding = await press("/settings/methods", "Send the mail", { email: "moderator@example.com" });
  t.deepEqual(adding, [303, "/sign-in/code"]);
  const mailboxLink = join(dataDir, "mailbox-link");
  t.is(((await stat(mailboxLink)).mode & 0o777).toString(8), "600");
  t.true(service.logs().includes(`the link in ${mailboxLink}`), "the start says where the mail is");
  const mailbox = new URL((await readFile(mailboxLink, "utf8")).trimEnd()).pathname;
  const [, code = ""] = /\s(\d{6})\s/.exec((await browser.get(service.url + mailbox)).text) ?? [];
  t.deepEqual(await press("/sign-in/code", "Continue", { code }), [303, "/settings/methods"]);
  // The worker sends its notices there, too.
  const own = await connectAgent(service.url, "Own");
  t.is((await press(new URL(own.link).pathname, own.code))[0], 200);
  await until(() => shows(mailbox, "An agent now acts for you on Souk"), 60_000);
  t.is((await press(path, "Remove", { reason: "scam", words: "It asks for money first." }))[0], 303);
  t.like((await owner.call("GET", `/v1/offers/${offer.offer_id}`)).body, {
    status: "removed",
    review: "It asks for money first.",
    review_reason: "scam",
    appealable: true,
  });
  t.is((await owner.call("POST", `/v1/offers/${offer.offer_id}/appeal`, { comment: "It does not." })).status, 200);
  t.true(await shows("/admin?queue=appeal", path));
  t.is((await press(path, "Restore"))[0], 303);
  t.like((await owner.call("GET", `/v1/offers/${offer.offer_id}`)).body, { status: "published", reviewed: true });
  t.true(await shows(`/admin/audit?about=${offer.offer_id}`, "offer.restored"));

  await service.stop();
  for (const hidden of [secret, mailbox]) t.false(service.logs().includes(hidden), "the log has no secret of a link");
  t.deepEqual(await filesWith(dataDir, secret), ["moderator-link"]);
  const again = await startService(options, t);
  t.is(await shownLink(again), "", "no link is given, because there is a moderator");
  t.deepEqual(await filesWith(dataDir, secret), [], "and the file of the used link is gone");
});
