import { performance } from "node:perf_hooks";
import { hashSecret, newSecret, newToken } from "../../src/base/tokens.ts";
import { withClient } from "../support/client.ts";
import { quantile, type Result, rawRequest, runLoad } from "./load.ts";
import type { Market } from "./market.ts";
import { print, tell } from "./report.ts";
import type { Service } from "./service.ts";
import { textToPublish } from "./texts.ts";

/**
 * One caller keeps many calls open, and another caller is measured meanwhile.
 *
 *   flood     what the noisy caller sends
 *   the other the caller who is measured: an agent that reads one offer, again and again
 */

/** A kind of flood: different requests, sent in turn. */
type Flood = { name: string; requests: string[] };

/** The calls that the noisy caller keeps open. */
const OPEN = 200;
/** The agents of one network that nobody approved. They share its turns. */
const UNAPPROVED = 30;
/** Different requests of one kind. */
const VARIANTS = 100;

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });
const variants = (make: (n: number) => string): string[] => Array.from({ length: VARIANTS }, (_, n) => make(n));

/**
 * Creates the noisy callers, and returns the floods.
 * @param database a superuser's URL
 */
const makeFloods = (database: string, baseUrl: string): Promise<Flood[]> =>
  withClient(database, async (client) => {
    /** An account that proved a sign-in method, so that its callers take turns of their own. */
    const account = async (): Promise<string> =>
      (
        await client.query(
          `with a as (insert into market.account (claimed_at) values (now()) returning id)
           insert into market.proved_method (account_id, method, subject_hash)
           select id, 'google', sha256(uuid_send(id)) from a returning account_id as id`,
        )
      ).rows[0]?.id;
    const agent = async (state: "connected" | "unapproved" | "removed"): Promise<string> => {
      const token = newToken();
      await client.query(
        `insert into market.agent (account_id, name, token_hash, connected_at, removed_at)
         values ($1, 'Noisy', $2, case when $3 = 'unapproved' then null else now() end,
           case when $3 = 'removed' then now() end)`,
        [await account(), hashSecret(token), state],
      );
      return token;
    };
    const session = async (): Promise<{ id: string; cookie: string }> => {
      const [secret, id] = [newSecret(), await account()];
      await client.query("insert into market.session (account_id, secret_hash) values ($1, $2)", [
        id,
        hashSecret(secret),
      ]);
      return { id, cookie: `souk_session=${secret}` };
    };
    const moderator = await session();
    await client.query("insert into market.moderator (account_id, appointed_by) values ($1, 'a flood')", [
      moderator.id,
    ]);
    const person = await session();
    const removed = await agent("removed");
    const unapproved: string[] = [];
    for (let n = 0; n < UNAPPROVED; n += 1) unapproved.push(await agent("unapproved"));
    const [me, publishing] = [await agent("connected"), await agent("connected")];
    const [asking, guessing] = [await agent("connected"), await agent("connected")];
    const words = ["sofa in good condition", "red bicycle", "apartment in Berlin under 900 EUR", "piano lessons"];
    const fromPage = { Origin: new URL(baseUrl).origin, "Sec-Fetch-Site": "same-origin" };
    const query = "{ settings(first: 50) { nodes { name value } } accounts(first: 20) { nodes { id } } }";
    return [
      {
        name: "searches, unapproved agents",
        requests: variants((n) =>
          rawRequest("POST", "/v1/offers/search", bearer(unapproved[n % UNAPPROVED] ?? ""), {
            query: `${words[n % 4]} ${n}`,
          }),
        ),
      },
      { name: "GET /v1/me", requests: [rawRequest("GET", "/v1/me", bearer(me))] },
      {
        name: "publishing",
        requests: variants((n) => rawRequest("POST", "/v1/offers", bearer(publishing), { text: textToPublish(n) })),
      },
      {
        name: "asks",
        requests: variants((n) =>
          rawRequest("POST", "/v1/asks", bearer(asking), { text: `Looking for a ${words[n % 4]}` }),
        ),
      },
      {
        name: "tools",
        requests: variants((n) =>
          rawRequest("POST", "/mcp", bearer(me), {
            jsonrpc: "2.0",
            id: n,
            method: "tools/call",
            params: { name: "search_offers", arguments: { query: `${words[n % 4]} ${n}` } },
          }),
        ),
      },
      {
        name: "ids that do not exist",
        requests: variants(() => rawRequest("GET", `/v1/offers/${crypto.randomUUID()}`, bearer(guessing))),
      },
      { name: "a session: GET /v1/me", requests: [rawRequest("GET", "/v1/me", { Cookie: person.cookie })] },
      { name: "a session: pages", requests: [rawRequest("GET", "/settings", { Cookie: person.cookie })] },
      {
        name: "a moderator's GraphQL",
        requests: [rawRequest("POST", "/admin/graphql", { Cookie: moderator.cookie, ...fromPage }, { query })],
      },
      {
        name: "made-up and removed tokens",
        requests: variants((n) => rawRequest("GET", "/v1/me", bearer(n % 2 === 0 ? removed : newToken()))),
      },
      { name: "malformed tokens", requests: [rawRequest("GET", "/v1/me", bearer("agt_invented"))] },
      { name: "nobody: the index", requests: [rawRequest("GET", "/v1", {})] },
    ];
  });

/** The times of a caller's calls, in milliseconds. */
type Times = { p50: number; p99: number };

/** The times of the other caller's calls, and how many calls of the flood overtook one of them (median). */
type OtherTimes = Times & { overtaken: number };

const timesOf = (milliseconds: Float64Array): Times => {
  const sorted = milliseconds.toSorted();
  return { p50: quantile(sorted), p99: quantile(sorted, 0.99) };
};

const otherTimes = ({ other }: Result): OtherTimes => ({
  ...timesOf(other.milliseconds),
  overtaken: quantile(other.overtaken.toSorted()),
});

/** How many calls of one caller may run at once (src/database/turns.ts). */
const WARMING = 8;

/**
 * Measures another caller's request, first on a quiet service and then during a flood.
 * @param other the request of the other caller
 * @returns its times, how many of the flood's calls got each status, and the times of the flood's calls
 */
const measureFlood = async (
  port: number,
  other: string,
  { requests }: Flood,
  seconds: number,
  open = OPEN,
): Promise<{ quiet: OtherTimes; noisy: OtherTimes; statuses: Record<string, number>; flooder: Times }> => {
  const quiet = otherTimes(await runLoad({ port, requests: [], connections: 0, other, seconds }));
  // Warm up. The first call of each kind, and the first on each connection to the database, loads and compiles code.
  // WARMING calls at once open every connection that the flood can use.
  await runLoad({ port, requests, connections: WARMING, count: 2 * WARMING, flood: true });
  const flood = await runLoad({ port, requests, connections: open, other, seconds, flood: true });
  return { quiet, noisy: otherTimes(flood), statuses: flood.statuses, flooder: timesOf(flood.milliseconds) };
};

/** How many callers search at once, and how often each. */
const [CALLERS, SEARCHES] = [20, 20];

/**
 * Twenty callers search twenty times each, all at once.
 * @returns how many of the calls got each status, how many callers were served completely, and the time of all
 */
const searchTogether = async (
  baseUrl: string,
  tokens: readonly string[],
): Promise<{ statuses: Record<string, number>; served: number; seconds: number }> => {
  const start = performance.now();
  const perCaller = await Promise.all(
    Array.from({ length: CALLERS }, (_, caller) =>
      Promise.all(
        Array.from({ length: SEARCHES }, async (_, n) => {
          const answer = await fetch(`${baseUrl}/v1/offers/search`, {
            method: "POST",
            headers: { authorization: `Bearer ${tokens[caller]}`, "content-type": "application/json" },
            body: JSON.stringify({ query: `sofa in good condition ${n}` }),
          });
          await answer.arrayBuffer();
          return String(answer.status);
        }),
      ),
    ),
  );
  const statuses: Record<string, number> = {};
  for (const status of perCaller.flat()) statuses[status] = (statuses[status] ?? 0) + 1;
  const served = perCaller.filter((all) => all.every((status) => status === "200")).length;
  return { statuses, served, seconds: (performance.now() - start) / 1000 };
};

const statusesOf = (statuses: Record<string, number>): string =>
  Object.entries(statuses)
    .map(([status, count]) => `${count} x ${status}`)
    .join(", ");

/** Prints for each kind of flood how long another agent's `GET /v1/offers/{id}` takes. */
export const showNoise = async (
  { url, callers }: Market,
  { baseUrl, port }: Service,
  offerId: string | undefined,
  seconds: number,
): Promise<void> => {
  const tokens = callers.map(({ token }) => token);
  const request = rawRequest("GET", `/v1/offers/${offerId}`, { Authorization: `Bearer ${tokens.at(-1)}` });
  print(`GET /v1/offers/{id} of another agent, while one caller keeps ${OPEN} calls open; times in milliseconds`);
  print();
  const columns = (cells: string[]) =>
    print(cells.map((cell, i) => (i === 0 ? cell.padEnd(34) : i < 8 ? cell.padStart(10) : `   ${cell}`)).join(""));
  columns(["", "quiet p50", "p99", "p50", "p99", "ratio", "goal", "overtaken", "the caller gets"]);
  for (const flood of await makeFloods(url, baseUrl)) {
    tell(flood.name);
    const { quiet, noisy, statuses } = await measureFlood(port, request, flood, seconds);
    tell("");
    const goal = 3 * quiet.p99 + 20;
    const figures = [quiet.p50, quiet.p99, noisy.p50, noisy.p99].map((time) => time.toFixed(1));
    const ratio = `${(noisy.p99 / quiet.p99).toFixed(1)} x`;
    columns([
      flood.name,
      ...figures,
      ratio,
      noisy.p99 <= goal ? "met" : "missed",
      String(noisy.overtaken),
      statusesOf(statuses),
    ]);
  }
  print();
  tell("searches at once");
  const { statuses, served, seconds: took } = await searchTogether(baseUrl, tokens);
  tell("");
  print(
    `twenty callers, twenty searches each, at once: ${statusesOf(statuses)}; ${served} of 20 callers were served completely, in ${took.toFixed(1)} s`,
  );
};
