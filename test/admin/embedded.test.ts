import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import test from "ava";
import { type Answer, call, connectAgent, eventually, SOFA } from "../support/market.ts";
import { newPerson } from "../support/person.ts";
import { type Service, startService } from "../support/service.ts";

/** The link, with a secret of 32 bytes in base64url. */
const LINK = /^http:\/\/127\.0\.0\.1:\d+\/moderator\/[\w-]{43}$/;

/** Tests what a person does who tries `npm start`: they become the moderator and decide on a reported offer. */

/** A minimal browser: keeps cookies and sends forms. */
const newBrowser = (url: string) => {
  const cookies = new Map<string, string>();
  const send = async (method: string, path: string, form?: Record<string, string>): Promise<Answer> => {
    const answer = await call(url, method, path, {
      ...(form ? { raw: new URLSearchParams(form).toString() } : {}),
      headers: {
        accept: "text/html",
        cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; "),
        "sec-fetch-site": "same-origin",
        ...(form ? { origin: url, "content-type": "application/x-www-form-urlencoded" } : {}),
      },
    });
    for (const cookie of (answer.headers["set-cookie"] ?? "").split(/, (?=[\w-]+=)/)) {
      const [, name, value] = /^([\w-]+)=([^;]*)/.exec(cookie) ?? [];
      if (name !== undefined && value !== undefined) cookies.set(name, value);
    }
    return answer;
  };
  const hidden = (page: Answer, name: string) =>
    new RegExp(`name="${name}" value="([^"]*)"`).exec(page.text)?.[1] ?? "";
  return {
    open: (path: string) => send("GET", path),
    /** Opens a page and sends its form, to this page or another, with the values of its hidden fields. */
    answer: async (path: string, fields: Record<string, string>, to = path) => {
      const page = await send("GET", path);
      const kept = Object.fromEntries(
        ["token", "expected", "queue", "shown"].map((name) => [name, hidden(page, name)]),
      );
      return send("POST", to, { ...kept, ...fields });
    },
  };
};

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
  t.is((await newBrowser(service.url).open(new URL(printed).pathname)).status, 404, "a new link ends the one before");

  const stranger = newBrowser(service.url);
  t.is((await stranger.open("/admin")).status, 404);
  const browser = newBrowser(service.url);
  t.is((await browser.open(pathname)).status, 200);
  t.is((await browser.open(pathname)).status, 200, "opening the link does not use it up");
  t.is((await browser.open("/admin")).status, 404, "opening the link appoints nobody");
  const accepted = await browser.answer(pathname, {});
  t.deepEqual([accepted.status, accepted.headers["location"]], [303, "/admin"]);
  t.is((await stranger.open(pathname)).status, 404, "the link works once");
  t.is((await stranger.open("/admin")).status, 404);

  const approved = async (name: string) => {
    const agent = await connectAgent(service.url, name);
    t.is((await newPerson().decide(agent.link, "approve")).status, 200);
    return agent;
  };
  const [owner, reporter] = [await approved("Owner"), await approved("Reporter")];
  const { body: offer } = await owner.call("POST", "/v1/offers", { text: SOFA });
  await reporter.call("POST", `/v1/offers/${offer.offer_id}/report`, {
    reason: "scam",
    comment: "Asks for money first.",
  });

  const queue = await browser.open("/admin?queue=reported");
  t.is(queue.status, 200, queue.text.slice(0, 500));
  t.true(queue.text.includes(`/admin/offers/${offer.offer_id}`));
  const path = `/admin/offers/${offer.offer_id}`;
  // The service offers e-mail, so a decision needs a proved address. Without a mail server the code is in the mailbox.
  t.is((await browser.answer(path, { decision: "keep" })).status, 403);
  const adding = { purpose: "add", return: "/settings/methods", method: "email", email: "moderator@example.com" };
  t.is((await browser.answer("/settings/methods", adding, "/sign-in")).headers["location"], "/sign-in/code");
  const mailboxLink = join(dataDir, "mailbox-link");
  t.is(((await stat(mailboxLink)).mode & 0o777).toString(8), "600");
  t.true(service.logs().includes(`the link in ${mailboxLink}`), "the start says where the mail is");
  const mailbox = new URL((await readFile(mailboxLink, "utf8")).trimEnd()).pathname;
  const [, code = ""] = /\s(\d{6})\s/.exec((await browser.open(mailbox)).text) ?? [];
  t.is((await browser.answer("/sign-in/code", { code })).headers["location"], "/settings/methods");
  // The worker sends its notices there, too.
  const own = await connectAgent(service.url, "Own");
  t.is((await browser.answer(new URL(own.link).pathname, { decision: "approve" })).status, 200);
  await eventually(
    () => browser.open(mailbox),
    ({ text }) => text.includes("An agent now acts for you on Souk"),
    60_000,
  );
  const removed = await browser.answer(path, { decision: "remove", reason: "scam", words: "It asks for money first." });
  t.is(removed.status, 303, removed.text.slice(0, 500));
  t.like((await owner.call("GET", `/v1/offers/${offer.offer_id}`)).body, {
    status: "removed",
    review: "It asks for money first.",
    review_reason: "scam",
    appealable: true,
  });
  t.is((await owner.call("POST", `/v1/offers/${offer.offer_id}/appeal`, { comment: "It does not." })).status, 200);
  t.true((await browser.open("/admin?queue=appeal")).text.includes(path));
  t.is((await browser.answer(path, { decision: "restore" })).status, 303);
  t.like((await owner.call("GET", `/v1/offers/${offer.offer_id}`)).body, { status: "published", reviewed: true });
  t.true((await browser.open(`/admin/audit?about=${offer.offer_id}`)).text.includes("offer.restored"));

  await service.stop();
  for (const hidden of [secret, mailbox]) t.false(service.logs().includes(hidden), "the log has no secret of a link");
  t.deepEqual(await filesWith(dataDir, secret), ["moderator-link"]);
  const again = await startService(options, t);
  t.is(await shownLink(again), "", "no link is given, because there is a moderator");
  t.deepEqual(await filesWith(dataDir, secret), [], "and the file of the used link is gone");
});
