import { mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import {
  type Conversation,
  type Event,
  type Market,
  type MatchedOffer,
  type OfferPublished,
  openMarket,
  ProblemError,
  type SearchResult,
} from "souk/client";
import { visibleText } from "./base/visible_text.ts";

/**
 * `npm run agent`: an agent that is a program, an example of what every agent does. It connects once, keeps its
 * token, gives its person the link, and then publishes, searches, asks and buys through the typed client.
 */

const HELP = `Usage: npm run agent -- [COMMAND] [TEXT] [--url URL] [--sandbox] [--contact CONTACT]

  "sell my grey sofa, 180 EUR, Berlin, lena@example.com"
                  a text with a contact is published as an offer; with any other text the agent searches, and creates an
                  ask. Then it prints what happens until you press Ctrl-C
  buy TEXT        "buy a cargo bike in Berlin, up to 1500": find the best offer that fits, propose its price, wait for the
                  answer, and give you the link to confirm. Others get CONTACT once both have agreed
  publish TEXT    publish an offer
  search TEXT     find offers
  ask TEXT        say what you want, and see what matches
  matches         what matches your active asks now
  events          what has happened so far, and what happens from now on
  me              who the agent acts for, and what it may do

The market is --url, SOUK_URL or http://127.0.0.1:3000. The agent keeps its token in ~/.config/souk, one file for each market.
With --sandbox it is a test agent, which needs no person and sees only its sandbox. A sandbox is deleted after a day.
`;

/** How often to look whether the person has approved the agent. A person takes longer. */
const POLL_MS = 2_000;
/** The longest wait that the event feed allows, in seconds. */
const EVENT_WAIT = 25;

/** Stored between runs. The link is needed until a person has approved the agent. */
type Credentials = { token: string; link: string; code: string };
/** A connected market, and the file with its credentials. */
type Session = { url: string; market: Market; credentials: Credentials; file: string; contact?: string | undefined };

const print = (line = ""): void => void process.stdout.write(`${line}\n`);
/** Printed texts are cut to this many characters, which is two or three lines. */
const SHOWN = 250;
/** Strangers' texts must not move the cursor or turn text around in the person's terminal. */
const printable = (text: string): string => visibleText(text.replaceAll(/\s+/g, " "), SHOWN);

/** Returns the file with the token for a market, or for a sandbox in it. Its name is the market's address. */
const fileOf = (url: string, sandbox: boolean): string =>
  join(
    process.env["XDG_CONFIG_HOME"] || join(homedir(), ".config"),
    "souk",
    `${encodeURIComponent(url)}${sandbox ? ".sandbox" : ""}.json`,
  );

const readCredentials = async (file: string): Promise<Credentials | null> => {
  const status = await stat(file).catch(() => null);
  if (status === null) return null;
  if (process.platform !== "win32" && (status.mode & 0o077) !== 0)
    throw new Error(`Others can read ${file}, which holds a token. Run \`chmod 600\` on it, and try again.`);
  return JSON.parse(await readFile(file, "utf8")) as Credentials;
};

/** Connects a new agent and keeps its token, in a file that only this user can read. */
const connect = async (url: string, sandbox: boolean, file: string): Promise<Credentials> => {
  const { agent_token: token, connection } = await openMarket({ url }).call("POST /v1/connect", {
    body: { name: "Souk command line", sandbox },
  });
  const credentials = { token, link: connection.url, code: connection.code };
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  // With wx, of two programs that connect at once, one keeps its agent, and the other one says so.
  await writeFile(file, `${JSON.stringify(credentials)}\n`, { mode: 0o600, flag: "wx" });
  return credentials;
};

/** Opens the market with the stored token, or with a new agent's if the market no longer knows it. */
const open = async (url: string, sandbox: boolean): Promise<Session> => {
  const file = fileOf(url, sandbox);
  const credentials = (await readCredentials(file)) ?? (await connect(url, sandbox, file));
  const market = openMarket({ url, token: credentials.token });
  try {
    await market.call("GET /v1/me");
    return { url, market, credentials, file };
  } catch (error) {
    if (!isRefused(error, "unauthorized")) throw error;
    print("This agent was removed from the market. It connects again.");
    await rm(file);
    return open(url, sandbox);
  }
};

const isRefused = (error: unknown, code: string): boolean =>
  error instanceof ProblemError && error.problem.code === code;

/** Gives the person the link and the code, and waits until they have approved the agent. */
const approval = async ({ market, credentials, file }: Session): Promise<void> => {
  // A person who presses “Not mine” removes the agent. A wrong pick ends its link, and so do 30 minutes.
  const state = async () =>
    market.call("GET /v1/me").then(
      ({ account, next }) => (account.connected ? "approved" : next[0]?.path === "/v1/connect" ? "ended" : "waiting"),
      (error: unknown) => (isRefused(error, "unauthorized") ? "ended" : Promise.reject(error)),
    );
  for (let asked = false; ; asked = true) {
    const now = await state();
    if (now === "approved") return asked ? print("Approved.\n") : undefined;
    if (now === "ended") {
      await rm(file);
      throw new Error(
        "Nobody approved this agent, and its link no longer works. Run the command again for a new link.",
      );
    }
    if (!asked)
      print(
        `Open this link, and pick this code there. That approves the agent, which waits.\n\n  ${credentials.link}\n  code ${credentials.code}\n`,
      );
    await sleep(POLL_MS);
  }
};

const tellUnderstood = (read: Pick<OfferPublished, "title" | "price" | "location" | "contact">): void => {
  for (const name of ["title", "price", "location", "contact"] as const)
    print(`  ${name.padEnd(9)} ${printable(read[name] ?? "(not stated)")}`);
};

const tellOffer = ({ id, web_url: page, content }: Pick<SearchResult, "id" | "web_url" | "content">): void => {
  const { headline, price_label: price, location_label: place } = content.preview;
  const parts = [headline, price ?? "no price", place ?? "no place", content.contact.methods[0]?.value ?? "no contact"];
  // Test agents' offers have no page.
  print(`  ${parts.map(printable).join(" · ")}\n    ${page ?? id}`);
};

const publish = async (session: Session, text: string): Promise<void> => {
  await approval(session);
  const published = await session.market.call("POST /v1/offers", { body: { text } });
  print(published.status === "published" ? "Published:" : "A moderator looks at it before it is published:");
  tellUnderstood(published);
  if (published.web_url !== undefined) print(`  page      ${published.web_url}`);
  for (const warning of published.warnings ?? []) print(warning);
};

const search = async ({ market }: Session, text: string): Promise<void> => {
  const { results, notices } = await market.call("POST /v1/offers/search", { body: { query: text } });
  print(results.length === 0 ? "Nothing like that is offered yet." : "Offered:");
  for (const offer of results) tellOffer(offer);
  for (const { summary } of notices) print(printable(summary));
};

const ask = async (session: Session, text: string): Promise<void> => {
  await approval(session);
  const { id, title } = await session.market.call("POST /v1/asks", { body: { text } });
  print(`Asked: ${printable(title ?? text)}`);
  const { results } = await session.market.call("GET /v1/asks/{id}/matches", { path: { id } });
  for (const offer of results) tellOffer(offer);
  if (results.length === 0) print("Nothing matches yet. Offers published later are matched, too.");
};

/** Whether an offer states a price, and nothing that the person wants is violated, or in the price unknown. */
const fits = ({ metadata, match }: MatchedOffer): boolean =>
  metadata?.pricing?.amount !== undefined &&
  metadata.pricing.currency !== undefined &&
  match.reasons.every(
    ({ criterion, verdict }) => verdict === "met" || (verdict === "unknown" && criterion !== "price"),
  );

/**
 * Answers the other side until it is agreed or over. It accepts what costs at most `most`; what the agent may not agree to
 * alone, the person confirms.
 */
const settle = async ({ market }: Session, opened: Conversation, most: number, currency: string): Promise<void> => {
  const path = { id: opened.id };
  const earlier = opened.agreement?.id;
  let asked = false;
  for (let talk = opened; ; ) {
    const { proposal, status } = talk;
    const agreement = talk.agreement?.id === earlier ? null : talk.agreement;
    const price = proposal?.terms.price;
    if (proposal?.from === "counterpart") {
      const isFine = price?.currency === currency && price.amount <= most && price.period === undefined;
      print(`They propose ${printable(JSON.stringify(proposal.terms))}. ${isFine ? "Accepted." : "Declined."}`);
      const answer = { path: { ...path, proposal_id: proposal.id } };
      talk = await (isFine
        ? market.call("POST /v1/conversations/{id}/proposals/{proposal_id}/accept", answer)
        : market.call("POST /v1/conversations/{id}/proposals/{proposal_id}/decline", answer));
      continue;
    }
    if (proposal === null && agreement?.status === "made") {
      const { text, methods = [] } = talk.contact ?? {};
      return print(`Agreed. Reach them by ${printable(text ?? methods.map(({ value }) => value).join(", "))}`);
    }
    if (proposal === null && agreement?.status !== "awaiting")
      return print(`Nothing was agreed${status === "closed" ? ": they closed the conversation" : ""}.`);
    if (agreement?.confirmation?.status === "pending" && !asked) {
      print(`Open this link, and confirm what is agreed.\n\n  ${agreement.confirmation.url}\n`);
      asked = true;
    }
    const read = await market.call("GET /v1/conversations/{id}", {
      path,
      query: { after: talk.cursor, wait: EVENT_WAIT },
    });
    for (const { from, text } of read.messages.results)
      if (from === "counterpart") print(`They write: ${printable(text ?? "")}`);
    talk = read;
  }
};

/** Proposes to the best offer that fits what it asks, and goes on until it is agreed or over. */
const buy = async (session: Session, text: string): Promise<void> => {
  await search(session, text);
  await approval(session);
  const { market, contact } = session;
  const ask = await market.call("POST /v1/asks", { body: { text: `I want to buy ${text}` } });
  const { results } = await market.call("GET /v1/asks/{id}/matches", { path: { id: ask.id }, query: { limit: 50 } });
  const best = results.find(fits);
  const { amount, currency } = best?.metadata?.pricing ?? {};
  if (best === undefined || amount === undefined || currency === undefined)
    return print("Nothing with a price fits yet. Offers published later are matched, too.");
  print(`Proposing ${amount} ${currency} for:`);
  tellOffer(best);
  const opened = await market.call("POST /v1/offers/{id}/conversations", {
    path: { id: best.id },
    body: {
      text: "Is it still available?",
      proposal: { price: { amount, currency }, handover: { method: "pickup" } },
      origin_ask_id: ask.id,
      ...(contact === undefined ? {} : { contact }),
    },
  });
  print("Waiting for the answer.");
  await settle(session, opened, ask.criteria.price?.max ?? amount, currency);
};

const tellMatches = async ({ market }: Session): Promise<void> => {
  for await (const { id, title } of market.items("GET /v1/asks", { query: { status: "active" } })) {
    const { results } = await market.call("GET /v1/asks/{id}/matches", { path: { id }, query: { limit: 50 } });
    if (results.length > 0) print(`For “${printable(title ?? id)}”:`);
    for (const offer of results) tellOffer(offer);
  }
};

const tellEvent = async ({ market }: Session, { type, occurred_at: at, data }: Event): Promise<void> => {
  print(`${at} ${printable(type)} ${printable(JSON.stringify(data))}`);
  if (type !== "match.created" || data.offer_id === undefined) return;
  const offer = await market.call("GET /v1/offers/{id}", { path: { id: data.offer_id } }).catch((error: unknown) => {
    if (isRefused(error, "not_found")) return null;
    throw error;
  });
  if (offer !== null && "content" in offer) tellOffer(offer);
};

/** Prints events after a cursor, or those of the last month, until the program is stopped. */
const follow = async (session: Session, after?: string): Promise<never> => {
  print("\nFollowing what happens. Press Ctrl-C to stop.");
  for (let cursor = after; ; ) {
    const query = { wait: EVENT_WAIT, ...(cursor === undefined ? {} : { after: cursor }) };
    const { events, cursor: next } = await session.market.call("GET /v1/events", { query });
    for (const event of events) await tellEvent(session, event);
    cursor = next;
  }
};

/** Whether the market reads a text as an offer. Only an offer has a contact. */
const isOffer = async ({ market }: Session, text: string): Promise<boolean> => {
  try {
    const { missing_fields: missing = [] } = await market.call("POST /v1/offers/preview", { body: { text } });
    if (!missing.includes("contact")) return true;
    print(
      "The text has no contact, so it is looked for. To publish it as an offer, add a phone number, an address or a link.",
    );
  } catch (error) {
    if (!isRefused(error, "reads_as_ask")) throw error;
    print("The text looks for something.");
  }
  return false;
};

/** Does what a sentence says. */
const handle = async (session: Session, text: string): Promise<void> => {
  const offers = await isOffer(session, text);
  const { cursor } = await session.market.call("GET /v1/events", { query: { after: "now" } });
  if (offers) await publish(session, text);
  else {
    await search(session, text);
    await ask(session, text);
  }
  await follow(session, cursor);
};

const me = async ({ url, market, credentials }: Session): Promise<void> => {
  const { agent, account, permissions, activity, sandbox_id: sandbox } = await market.call("GET /v1/me");
  const standing = sandbox
    ? `in sandbox ${sandbox}`
    : account.connected
      ? "approved by its person"
      : "not approved yet";
  print(`${printable(agent?.name ?? "")} at ${url}, ${standing}`);
  const allowed = Object.entries(permissions).filter(([, permission]) => permission.allowed);
  print(`  may       ${allowed.map(([name]) => name).join(", ")}`);
  print(
    `  offers    ${activity.offers_published} published, ${activity.offers_pending_review} waiting for a moderator`,
  );
  print(`  asks      ${activity.asks_active} active`);
  print(`  settings  ${account.profile_url}`);
  if (!account.connected) print(`  approve   ${credentials.link}\n  code      ${credentials.code}`);
};

/** The commands. Those with `needsText` take a text. */
const COMMANDS: Readonly<
  Record<string, { run: (session: Session, text: string) => Promise<void>; needsText: boolean }>
> = {
  publish: { run: publish, needsText: true },
  search: { run: search, needsText: true },
  ask: { run: ask, needsText: true },
  buy: { run: buy, needsText: true },
  matches: { run: (session) => tellMatches(session), needsText: false },
  events: { run: (session) => follow(session), needsText: false },
  me: { run: me, needsText: false },
};

/**
 * Runs the agent.
 * @param args the words after `agent`
 * @throws an Error with a sentence for the person, for example if no market answers
 */
export const runAgent = async (args: readonly string[]): Promise<void> => {
  const options = {
    url: { type: "string" },
    sandbox: { type: "boolean" },
    contact: { type: "string" },
    help: { type: "boolean", short: "h" },
  } as const;
  const { values, positionals: given } = parseArgs({ args: [...args], options, allowPositionals: true });
  // "buy a bike" is a sentence with a command, whether it is quoted or not.
  const positionals = /^buy\s/.test(given[0] ?? "") ? given.join(" ").split(/\s+/) : given;
  const [first = "", ...rest] = positionals;
  const command = Object.hasOwn(COMMANDS, first) ? COMMANDS[first] : undefined;
  const text = (command ? rest : positionals).join(" ");
  if (values.help || (text === "" && (command?.needsText ?? true))) return print(HELP);
  const url = (values.url ?? (process.env["SOUK_URL"] || "http://127.0.0.1:3000")).replace(/\/+$/, "");
  try {
    const session = await open(url, values.sandbox ?? false);
    await (command?.run ?? handle)({ ...session, contact: values.contact }, text);
  } catch (error) {
    if (error instanceof TypeError && error.message === "fetch failed")
      throw new Error(
        `No market answers at ${url}. Start one with \`npm start\`, or give the address of one with --url.`,
      );
    throw error;
  }
};
