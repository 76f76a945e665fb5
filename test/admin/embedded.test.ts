import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "ava";
import { startEmbeddedDatabase } from "../../src/database/embedded.ts";
import { migrate } from "../../src/database/migrate.ts";
import { withClient } from "../support/client.ts";
import { type Answer, call, connectAgent, eventually, SOFA } from "../support/market.ts";
import { newPerson } from "../support/person.ts";
import { startService } from "../support/service.ts";
import { currentMigration, isEmptyMigration } from "../support/sql_files.ts";

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
    /** Opens a page and sends its form with the values of its hidden fields. */
    answer: async (path: string, fields: Record<string, string>) => {
      const page = await send("GET", path);
      const kept = Object.fromEntries(["token", "expected", "queue"].map((name) => [name, hidden(page, name)]));
      return send("POST", path, { ...kept, ...fields });
    },
  };
};

test("on a bare machine, the first start prints a link that makes one person a moderator", async (t) => {
  // The test starts an embedded database up to three times, on a busy machine.
  t.timeout(300_000);
  const dataDir = await mkdtemp(join(tmpdir(), "souk-moderated-"));
  t.teardown(() => rm(dataDir, { recursive: true, force: true }));
  const current = await currentMigration();
  if (!isEmptyMigration(current)) {
    // The embedded database runs committed migrations only, so the migration in progress is applied here.
    const database = await startEmbeddedDatabase(dataDir);
    await migrate(database.url, true);
    await withClient(database.url, (client) => client.query(`begin;\n${current}\n;commit`));
    await database.close();
  }
  const service = await startService({ database: "", env: { DATA_DIR: dataDir } }, t);
  const printed = await eventually(
    async () => service.logs(),
    (logs) => /Moderate\s+\S+/.test(logs),
  );
  const { pathname } = new URL(/Moderate\s+(\S+)/.exec(printed)?.[1] ?? "");

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
  const again = await startService({ database: "", env: { DATA_DIR: dataDir } }, t);
  await eventually(
    async () => again.logs(),
    (logs) => logs.includes("Souk is ready at"),
  );
  t.notRegex(again.logs(), /Moderate\s/, "no link is printed, because there is a moderator");
});
