import test from "ava";
import { hashSecret, newSecret } from "../../src/base/tokens.ts";
import { createDatabase, type Database } from "../support/database.ts";
import { type Agent, call, connectedAgent, eventually } from "../support/market.ts";
import { type Service, startService } from "../support/service.ts";
import { sql } from "../support/sql.ts";
import { raised, servePages } from "./site.ts";

/** Tests what the home page shows of the market: only what the operator wants, and never what must not be seen. */

let database: Database;
let service: Service;
let seller: Agent;
test.before(async () => {
  database = await createDatabase();
  service = await startService({ database: database.url, env: { CONNECTIONS_PER_HOUR: "1000" } });
  seller = await connectedAgent(service.url, database.url, "Seller");
});
test.after.always(async () => {
  await service?.stop();
  await database?.drop();
});

/** Publishes a text with a title of its own. Returns the id of the offer. */
const publish = async (
  agent: Agent,
  title: string,
  text = "Good condition, 80 EUR, pick up in Berlin.",
): Promise<string> => {
  const { status, body } = await agent.call("POST", "/v1/offers", {
    text: `${title}. ${text} Write to lena@example.com`,
  });
  if (status !== 201) throw new Error(JSON.stringify(body));
  await sql(database.url, "update market.offer set title = $2 where id = $1", [body.offer_id, title]);
  return body.offer_id;
};

const show = (wanted: boolean) =>
  sql(database.url, "update market.setting set value = $1 where name = 'show_market'", [String(wanted)]);

const overview = async (): Promise<{ shown: boolean; offers: number; asks: number; newest: string[] }> =>
  (await sql<{ found: never }>(database.url, "select api.get_market_overview() as found"))[0]?.found as never;

/** Closes the cases of all offers, as moderators do who have looked at them. */
const closeCases = () => sql(database.url, "update market.review_case set closed_at = now() where closed_at is null");

test.serial("nothing of the market is shown until the operator says so", async (t) => {
  await publish(seller, "Oak table");
  await closeCases();
  t.deepEqual(await overview(), { shown: false } as never);
  const home = await call(service.url, "GET", "/");
  t.is(home.headers["cache-control"], "public, max-age=300");
  t.false(home.text.includes("Oak table"));
  t.false(home.text.includes("In the market now"));
});

test.serial("the newest titles come first, six at most, and the home page shows them", async (t) => {
  await show(true);
  for (const title of ["Red lamp", "Blue chair", "Green bench", "Old piano", "Small drum", "Long ladder"])
    await publish(seller, title);
  await seller.call("POST", "/v1/asks", { text: "Looking for a cargo bike in Berlin" });
  await closeCases();
  t.deepEqual(await overview(), {
    shown: true,
    most: 10_000,
    offers: 7,
    asks: 1,
    newest: ["Long ladder", "Small drum", "Old piano", "Green bench", "Blue chair", "Red lamp"],
  } as never);
  // The process has kept "nothing is shown", but only for seconds.
  const home = await eventually(
    () => call(service.url, "GET", "/"),
    ({ text }) => text.includes("Long ladder"),
  );
  t.is(home.headers["cache-control"], "public, max-age=15");
  t.regex(home.text, /7 offers and 1 ask\. The newest offers:[\s\S]*Long ladder[\s\S]*Red lamp/);
});

test.serial(
  "offers that were removed, archived or suspended, and offers that wait for a moderator, are not shown",
  async (t) => {
    await show(true);
    const other = await connectedAgent(service.url, database.url, "Other");
    const ids = new Map<string, string>();
    for (const title of ["Removed rug", "Archived atlas", "Reported radio", "Kept kettle"])
      ids.set(title, await publish(seller, title));
    const suspended = await publish(other, "Suspended scooter");
    await closeCases();
    await sql(
      database.url,
      "insert into market.review_case (offer_id, causes) values ($1, '{changed}') on conflict (offer_id) do update set closed_at = null",
      [await publish(seller, "Changed clock")],
    );
    t.is((await seller.call("POST", `/v1/offers/${ids.get("Archived atlas")}/archive`)).status, 200);
    t.is((await other.call("POST", `/v1/offers/${ids.get("Reported radio")}/report`, { reason: "scam" })).status, 200);
    await sql(
      database.url,
      "update market.offer set status = 'removed', removed_at = now(), review_reason = 'scam' where id = $1",
      [ids.get("Removed rug")],
    );
    await sql(
      database.url,
      `update market.account set hiding = true, suspended_at = now()
     where id = (select account_id from market.offer where id = $1)`,
      [suspended],
    );
    const { newest } = await overview();
    t.is(newest[0], "Kept kettle");
    for (const title of ["Removed rug", "Archived atlas", "Reported radio", "Changed clock", "Suspended scooter"])
      t.false(newest.includes(title), title);
  },
);

test.serial("a title with a contact, and a title of people who look for people, is not shown", async (t) => {
  await show(true);
  const hidden = [
    ...["Sofa, write lena@example.com", "Sofa, see https://example.com/sofa", "Sofa at www.example"],
    ...["Sofa on example.com", "Sofa, call 030 901820", "Sofa 0176/1234567", "Sofa (+49) 30-90-18-20"],
    ...["Sofa ٠١٧١ ٢٣٤٥٦٧٨", "Sofa ０１７１２３４５６７８", "Sofa lena＠example．com"],
  ];
  for (const title of hidden) await publish(seller, title);
  const named = await publish(seller, "Sofa of Lena Meier");
  await sql(
    database.url,
    `update market.offer set contact = jsonb_set(contact, '{primary,name}', '"Lena Meier"') where id = $1`,
    [named],
  );
  const date = await publish(seller, "Anna looks for somebody kind");
  await sql(
    database.url,
    "update market.offer set domain = 'community', category = 'dating', offer_kind = 'dating' where id = $1",
    [date],
  );
  const shown = ["Sofa 3-seater, 2019, 180 EUR", "Flat, 75 m2", "Phone 128 GB"];
  for (const title of shown) await publish(seller, title);
  await closeCases();
  const { newest } = await overview();
  t.deepEqual(newest.slice(0, 3), shown.toReversed());
  for (const title of [...hidden, "Sofa of Lena Meier", "Anna looks for somebody kind"])
    t.false(newest.includes(title), title);
});

test.serial("search engines may list pages only if the operator says so, and never one that is not live", async (t) => {
  const id = await publish(seller, "Oak chest");
  const index = (wanted: boolean) =>
    sql(database.url, "update market.setting set value = $1 where name = 'index_offers'", [String(wanted)]);
  const open = (headers: Record<string, string> = {}) => call(service.url, "GET", `/offers/${id}`, { headers });
  t.is((await open()).headers["x-robots-tag"], "noindex");
  await index(true);
  t.is((await open()).headers["x-robots-tag"], undefined);
  await seller.call("POST", `/v1/offers/${id}/archive`);
  const secret = newSecret();
  await sql(
    database.url,
    "insert into market.session (account_id, secret_hash) select account_id, $2 from market.agent where id = $1",
    [seller.id, hashSecret(secret)],
  );
  const own = await open({ cookie: `souk_session=${secret}` });
  t.deepEqual([own.status, own.headers["x-robots-tag"]], [200, "noindex"]);
  await index(false);
});

test("the home page is there without the database, and asks it once for many visitors", async (t) => {
  const site = await servePages(t, { get_market_overview: raised(503, "service_unavailable", "No database.") });
  const answers = await Promise.all(Array.from({ length: 20 }, () => fetch(`${site.url}/`)));
  t.deepEqual(
    answers.map(({ status }) => status),
    Array(20).fill(200),
  );
  t.deepEqual(
    site.calls.map(({ name, actor, pool }) => [name, actor, pool]),
    [["get_market_overview", "visitor", "read"]],
  );
  t.deepEqual(site.thrown, []);
});
