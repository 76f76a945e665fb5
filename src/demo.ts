import {
  type Market,
  type OfferPublished,
  openMarket,
  type Problem,
  ProblemError,
  type SearchResult,
} from "souk/client";

/**
 * `npm run demo`: shows the main use case of the market against a running service, and prints each step.
 *
 *   Lena   sells a sofa; her agent publishes her offers
 *   Tom    wants a sofa; his agent searches, creates an ask, reads its matches, and gets new ones
 *
 * The agents use the typed client. Both persons approve them on the real page, as a browser would. The service's URL is
 * the argument or BASE_URL. The demo exits with code 1 if a step gives an unexpected result. At the end it archives its
 * offers and fulfills its ask.
 */

/** The timeout of a page. The client has its own for the agents' requests. */
const PATIENCE_MS = 30_000;
/** The longest wait for events in one call, in seconds. */
const WAIT_S = 25;
/** Printed texts are cut to this many characters, which is one or two lines. */
const SHOWN = 150;

/** Lena's further offers, each in another language. Her sofa is separate, because publishing it takes two attempts. */
const TEXTS = [
  "Verkaufe Fahrrad, 28 Zoll, guter Zustand, 120 Euro. Abholung in Berlin. Mail: lena@example.com",
  "Vends vélo pliant en très bon état, 90 €, à Paris. Écrire à lena@example.com",
  "Se ofrecen clases de matemáticas en Madrid, 20 euros la hora. Contacto: lena@example.com",
];
const SOFA = "Grey three-seat sofa, good condition, smoke-free home. 180 EUR, pick up in Berlin.";
const SECOND_SOFA = "Blue two-seat sofa, good condition. 150 EUR, pick up in Berlin.";
const CONTACT = "Write to lena@example.com";
const WANTED = "Looking for a sofa in Berlin, in good condition, up to 250 EUR";

const print = (line = ""): void => void process.stdout.write(`${line}\n`);

/** Ends the demo because of an unexpected result. @throws an Error with the expected and the actual result */
const fail = (expected: string, came: unknown): never => {
  throw new Error(`Expected ${expected}, but got:\n${JSON.stringify(came, null, 2).slice(0, 2000)}`);
};

/** Returns the problem that a call is refused with. @throws if it is not refused, or with another code */
const refusal = async (call: Promise<unknown>, code: Problem["code"]): Promise<Problem> => {
  const came = await call.catch((error: unknown) =>
    error instanceof ProblemError ? error.problem : Promise.reject(error),
  );
  return came instanceof Object && "code" in came && came.code === code ? (came as Problem) : fail(code, came);
};

let steps = 0;
const step = (title: string): void => {
  steps += 1;
  print(`\n${steps}. ${title}`);
};

const shorten = (text: string): string => (text.length > SHOWN ? `${text.slice(0, SHOWN - 1)}…` : text);
const tell = (name: string, value: unknown): void => {
  if (value !== undefined)
    print(`     ${name.padEnd(12)} ${shorten(typeof value === "string" ? value : JSON.stringify(value))}`);
};

/** A fetch that prints the request line, the body and the status. It prints no token. */
const printingFetch: typeof fetch = async (input, init) => {
  const body = typeof init?.body === "string" ? ` ${shorten(init.body)}` : "";
  const { pathname, search } = new URL(input instanceof Request ? input.url : input);
  print(`   > ${init?.method ?? "GET"} ${pathname}${search}${body}`);
  const response = await fetch(input, init);
  print(`   < ${response.status} ${response.statusText}`);
  return response;
};

/** Acts as the person in a browser: opens the page, and picks the code that the agent shows. */
const approve = async (who: string, link: string, code: string): Promise<void> => {
  print(`   > GET ${new URL(link).pathname.replace(/[^/]+$/, "…")}   (${who}'s browser)`);
  const page = await fetch(link, { signal: AbortSignal.timeout(PATIENCE_MS) });
  const html = await page.text();
  const token = /name="token" value="([^"]+)"/.exec(html)?.[1];
  if (page.status !== 200 || !html.includes(code) || token === undefined) return fail("a page with the code", html);
  const codes = [...html.matchAll(/name="code" value="([^"]+)"/g)].map(([, shown]) => shown);
  tell("page shows", `the codes ${codes.join(", ")}`);
  const cookies = page.headers.getSetCookie().map((cookie) => cookie.split(";")[0]);
  print(`   > POST the form, with the button ${code}, which the agent showed ${who}   (${who}'s browser)`);
  const answer = await fetch(link, {
    method: "POST",
    headers: { origin: new URL(link).origin, cookie: cookies.join("; ") },
    body: new URLSearchParams({ token, code }),
    signal: AbortSignal.timeout(PATIENCE_MS),
  });
  print(`   < ${answer.status} ${answer.statusText}`);
  if (answer.status !== 200) fail("a page that says it is approved", await answer.text());
};

const connect = async (url: string, who: string): Promise<{ agent: Market; link: string; code: string }> => {
  const visitor = openMarket({ url, fetch: printingFetch });
  const {
    agent_token: token,
    connection,
    summary,
  } = await visitor.call("POST /v1/connect", {
    body: { name: `${who}'s assistant` },
  });
  tell("agent_token", "agt_… (the agent keeps it to itself)");
  tell("link", `${url}/connect/…`);
  tell("code", connection.code);
  tell("summary", summary);
  return { agent: openMarket({ url, token, fetch: printingFetch }), link: connection.url, code: connection.code };
};

const tellUnderstood = (read: OfferPublished): void => {
  for (const name of ["title", "domain", "category", "offer_kind", "price", "location", "contact"] as const) {
    tell(name, read[name] ?? "(not stated)");
  }
};

const tellListing = ({ rank, score, content }: SearchResult): void => {
  const { headline, price_label: price, location_label: place } = content.preview;
  const about = [`score ${score}`, price ?? "no price", place ?? "no place", content.contact.methods[0]?.value];
  print(`     ${rank}. ${headline}  (${about.join(", ")})`);
};

/** Archives one offer or fulfills one ask that the demo created. All of them run at the end, even if a step fails. */
type Undo = () => Promise<void>;

const sell = async (lena: Market, undo: Undo[]): Promise<string> => {
  step("Lena describes what she sells, but forgets to give a contact.");
  const lacking = await refusal(lena.call("POST /v1/offers", { body: { text: SOFA } }), "missing_contact");
  tell("code", lacking.code);
  tell("detail", lacking.detail);

  const publish = async (text: string) => {
    const { body, headers } = await lena.exchange("POST /v1/offers", { body: { text } });
    const path = { id: body.offer_id };
    undo.push(async () => {
      const archived = await lena.call("POST /v1/offers/{id}/archive", { path });
      if (archived.status !== "archived") fail("an archived offer", archived);
    });
    tellUnderstood(body);
    return { ...path, left: headers.get("ratelimit-remaining") };
  };
  step("Her agent asks her, adds the contact and publishes. The server extracts the fields from the text.");
  const sofa = await publish(`${SOFA} ${CONTACT}`);
  tell("calls left", `${sofa.left} this hour`);

  step("She publishes more offers in other languages. The request does not name the language.");
  for (const text of TEXTS) await publish(text);
  return sofa.id;
};

const buy = async (tom: Market, sofa: string, undo: Undo[]): Promise<void> => {
  step("Tom's agent searches. Every result passes the filter. Words and their meaning decide the rank.");
  const found = await tom.call("POST /v1/offers/search", {
    body: { query: "sofa in good condition", filters: { location: "Berlin" } },
  });
  for (const listing of found.results.slice(0, 3)) tellListing(listing);
  if (found.results.length === 0) fail("a sofa among the results", found);

  step("Tom says what he wants. His agent creates an ask, which is also matched with offers published later.");
  const ask = await tom.call("POST /v1/asks", { body: { text: WANTED } });
  const path = { id: ask.id };
  undo.push(async () => {
    const fulfilled = await tom.call("POST /v1/asks/{id}/fulfill", { path });
    if (fulfilled.status !== "fulfilled") fail("a fulfilled ask", fulfilled);
  });
  for (const name of ["title", "domain", "category", "ask_kind", "criteria"] as const) tell(name, ask[name]);

  step("Tom's agent reads the matches of the ask, with the verdict on each thing that Tom wants.");
  const { results } = await tom.call("GET /v1/asks/{id}/matches", { path, query: { limit: 50 } });
  // If others use the market too, their offers may rank higher.
  const match = results.find(({ id }) => id === sofa) ?? fail("Lena's sofa among the matches", results);
  tellListing(match);
  for (const { criterion, verdict, wanted, found: has } of match.match.reasons) {
    print(
      `        ${criterion.padEnd(10)} ${verdict.padEnd(8)} wanted ${JSON.stringify(wanted)}, found ${JSON.stringify(has)}`,
    );
  }

  step("Tom's agent reads the offer in full, and tells Tom how to reach Lena.");
  const offer = await tom.call("GET /v1/offers/{id}", { path: { id: sofa } });
  if (!("document" in offer)) return fail("a published offer", offer);
  tell("description", offer.document.description);
  tell("contact", offer.content.contact.methods[0]);
  tell("publisher", offer.publisher);
};

/** Tom's agent waits for events while Lena's publishes. */
const beTold = async (tom: Market, lena: Market, undo: Undo[]): Promise<void> => {
  step(
    "Tom's agent waits for the next event, in one open call. Lena publishes another sofa, and Tom's agent hears of it.",
  );
  let { cursor } = await tom.call("GET /v1/events", { query: { after: "now" } });
  const waitForNews = async (): Promise<{ offers: unknown[]; at: number }> => {
    const { events, cursor: next } = await tom.call("GET /v1/events", { query: { after: cursor, wait: WAIT_S } });
    cursor = next;
    const offers = events.filter(({ type }) => type === "match.created").map(({ data }) => data.offer_id);
    return { offers, at: performance.now() };
  };
  const waiting = waitForNews();
  const { offer_id: id } = await lena.call("POST /v1/offers", { body: { text: `${SECOND_SOFA} ${CONTACT}` } });
  const published = performance.now();
  undo.push(async () => void (await lena.call("POST /v1/offers/{id}/archive", { path: { id } })));
  let news = await waiting;
  // If others use the market too, their offers may match first.
  while (!news.offers.includes(id)) {
    if (performance.now() - published > PATIENCE_MS) fail("an event about the second sofa", news);
    news = await waitForNews();
  }
  tell("told", `${Math.max(0, Math.round(news.at - published))} ms after Lena's agent got its answer`);
};

const play = async (baseUrl: string, undo: Undo[]): Promise<void> => {
  step("Lena's agent connects with one call. It needs no sign-up and no key.");
  const lena = await connect(baseUrl, "Lena");

  step("Lena has not approved it yet, so it may search and read, but not publish.");
  const early = lena.agent.call("POST /v1/offers", { body: { text: `${SOFA} ${CONTACT}` } });
  tell("detail", (await refusal(early, "verification_required")).detail);

  step("Lena opens the link that her agent gave her, and picks the code that it showed her.");
  await approve("Lena", lena.link, lena.code);
  const me = await lena.agent.call("GET /v1/me");
  if (!me.account.connected) fail("a connected agent", me);
  const allowed = Object.entries(me.permissions).filter(([, permission]) => permission.allowed);
  tell("may now", allowed.map(([name]) => name).join(", "));
  tell("next", me.next[0]?.summary);

  const sofa = await sell(lena.agent, undo);

  step("Tom's agent connects, and Tom approves it.");
  const tom = await connect(baseUrl, "Tom");
  await approve("Tom", tom.link, tom.code);

  await buy(tom.agent, sofa, undo);
  await beTold(tom.agent, lena.agent, undo);

  step("Tom and Lena have agreed. Tom's ask is marked as fulfilled, and Lena's offers are archived.");
};

const findService = async (baseUrl: string): Promise<void> => {
  try {
    const { status } = await fetch(`${baseUrl}/readyz`, { signal: AbortSignal.timeout(PATIENCE_MS) });
    if (status === 200) return;
    throw new Error(`The service at ${baseUrl} is not ready yet (${status}). Try again in a moment.`);
  } catch (error) {
    if (error instanceof TypeError) {
      throw new Error(
        `No service answers at ${baseUrl}. Start one with \`npm start\` in another terminal, or give the address of one: npm run demo -- http://127.0.0.1:3000`,
      );
    }
    throw error;
  }
};

/**
 * Runs the demo against a service. At the end it archives its offers and fulfills its ask.
 * @param address the URL of the service
 * @throws if no service answers there, if it is not ready, or if a step gives an unexpected result
 */
export const playDemo = async (address: string): Promise<void> => {
  const baseUrl = address.replace(/\/+$/, "");
  await findService(baseUrl);
  print(`The market at ${baseUrl}, seen by two agents and their persons.`);
  const undo: Undo[] = [];
  try {
    await play(baseUrl, undo);
  } finally {
    for (const takeDown of undo.reverse()) await takeDown();
  }
  print("\nThat is the market: told in plain words, approved by people, carried by agents.");
  print(`What else there is: ${baseUrl}/v1`);
};
