import { z } from "zod";
import * as asks from "./http/schemas/asks.ts";
import * as connecting from "./http/schemas/connection.ts";
import * as offers from "./http/schemas/offers.ts";
import * as problems from "./http/schemas/problems.ts";
import * as search from "./http/schemas/search.ts";

/**
 * `npm run demo`: shows the main use case of the market against a running service, and prints each step.
 *
 *   Lena   sells a sofa; her agent publishes her offers
 *   Tom    wants a sofa; his agent searches, creates an ask, and reads its matches
 *
 * Both approve their agents on the real page, as a browser would. The service's URL is the argument or BASE_URL. The
 * demo exits with code 1 if a step gives an unexpected result. At the end it archives its offers and fulfills its ask.
 */

/** The timeout of a request. It is longer than the service's deadline for an extraction (by default ten seconds). */
const PATIENCE_MS = 30_000;
/** Printed texts are cut to this many characters, which is one or two lines. */
const SHOWN = 150;

type Answer = { status: number; headers: Headers; body: unknown };
/** `token` is null until the agent has connected. */
type Agent = { who: string; baseUrl: string; token: string | null };

/** Lena's further offers, each in another language. Her sofa is separate, because publishing it takes two attempts. */
const TEXTS = [
  "Verkaufe Fahrrad, 28 Zoll, guter Zustand, 120 Euro. Abholung in Berlin. Mail: lena@example.com",
  "Vends vélo pliant en très bon état, 90 €, à Paris. Écrire à lena@example.com",
  "Se ofrecen clases de matemáticas en Madrid, 20 euros la hora. Contacto: lena@example.com",
];
const SOFA = "Grey three-seat sofa, good condition, smoke-free home. 180 EUR, pick up in Berlin.";
const CONTACT = "Write to lena@example.com";
const WANTED = "Looking for a sofa in Berlin, in good condition, up to 250 EUR";

const print = (line = ""): void => void process.stdout.write(`${line}\n`);

/** Ends the demo because of an unexpected result. @throws an Error with the expected and the actual result */
const fail = (expected: string, came: unknown): never => {
  throw new Error(`Expected ${expected}, but got:\n${JSON.stringify(came, null, 2).slice(0, 2000)}`);
};

/** Returns the body of a response. @throws if its status is not `wanted`, or its body does not match the schema */
const expect = <T extends z.ZodType>({ status, body }: Answer, wanted: number, schema: T): z.infer<T> => {
  if (status !== wanted) fail(`a ${wanted}`, body);
  const { success, data, error } = schema.safeParse(body);
  return success ? data : fail(`a body of the contract (${z.prettifyError(error)})`, body);
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

/** Sends a request of an agent, and prints its request line and the status. It prints no token. */
const call = async (agent: Agent, method: string, path: string, body?: object): Promise<Answer> => {
  print(`   > ${method} ${path}${body ? ` ${shorten(JSON.stringify(body))}` : ""}`);
  const response = await fetch(agent.baseUrl + path, {
    method,
    headers: {
      ...(agent.token === null ? {} : { authorization: `Bearer ${agent.token}` }),
      ...(body ? { "content-type": "application/json" } : {}),
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
    signal: AbortSignal.timeout(PATIENCE_MS),
  });
  const text = await response.text();
  print(`   < ${response.status} ${response.statusText}`);
  const isJson = response.headers.get("content-type")?.includes("json");
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text };
};

/** Acts as the person in a browser: opens the page, compares the code, and presses Approve. */
const approve = async (who: string, link: string, code: string): Promise<void> => {
  print(`   > GET ${new URL(link).pathname.replace(/[^/]+$/, "…")}   (${who}'s browser)`);
  const page = await fetch(link, { signal: AbortSignal.timeout(PATIENCE_MS) });
  const html = await page.text();
  const token = /name="token" value="([^"]+)"/.exec(html)?.[1];
  if (page.status !== 200 || !html.includes(code) || token === undefined) return fail("a page with the code", html);
  tell("page shows", `the code ${code}, which is the one that the agent told ${who}`);
  const cookies = page.headers.getSetCookie().map((cookie) => cookie.split(";")[0]);
  print(`   > POST the form, with the button Approve   (${who}'s browser)`);
  const answer = await fetch(link, {
    method: "POST",
    headers: { origin: new URL(link).origin, cookie: cookies.join("; ") },
    body: new URLSearchParams({ token, decision: "approve" }),
    signal: AbortSignal.timeout(PATIENCE_MS),
  });
  print(`   < ${answer.status} ${answer.statusText}`);
  if (answer.status !== 200) fail("a page that says it is approved", await answer.text());
};

const connect = async (baseUrl: string, who: string): Promise<{ agent: Agent; link: string; code: string }> => {
  const answer = await call({ who, baseUrl, token: null }, "POST", "/v1/connect", { name: `${who}'s assistant` });
  const { agent_token: token, connection, summary } = expect(answer, 201, connecting.connectResponse);
  tell("agent_token", "agt_… (the agent keeps it to itself)");
  tell("link", `${baseUrl}/connect/…`);
  tell("code", connection.code);
  tell("summary", summary);
  return { agent: { who, baseUrl, token }, link: connection.url, code: connection.code };
};

/** Prints what the service extracted from a text. */
const tellUnderstood = (read: z.infer<typeof offers.offerPublished>): void => {
  for (const name of ["title", "domain", "category", "offer_kind", "price", "location", "contact"] as const) {
    tell(name, read[name] ?? "(not stated)");
  }
};

const tellListing = ({ rank, score, content }: z.infer<typeof search.searchResponse>["results"][number]): void => {
  const { headline, price_label: price, location_label: place } = content.preview;
  const about = [`score ${score}`, price ?? "no price", place ?? "no place", content.contact.methods[0]?.value];
  print(`     ${rank}. ${headline}  (${about.join(", ")})`);
};

/** Archives one offer or fulfills one ask that the demo created. All of them run at the end, even if a step fails. */
type Undo = () => Promise<void>;

const sell = async (lena: Agent, undo: Undo[]): Promise<string> => {
  step("Lena describes what she sells, but forgets to give a contact.");
  const lacking = expect(await call(lena, "POST", "/v1/offers", { text: SOFA }), 400, problems.problem);
  if (lacking.code !== "missing_contact") fail("missing_contact", lacking);
  tell("code", lacking.code);
  tell("detail", lacking.detail);

  const publish = async (text: string) => {
    const answer = await call(lena, "POST", "/v1/offers", { text });
    const published = expect(answer, 201, offers.offerPublished);
    undo.push(async () => {
      const archived = await call(lena, "POST", `/v1/offers/${published.offer_id}/archive`);
      if (expect(archived, 200, offers.ownerOffer).status !== "archived") fail("an archived offer", archived.body);
    });
    tellUnderstood(published);
    return { id: published.offer_id, left: answer.headers.get("RateLimit-Remaining") };
  };
  step("Her agent asks her, adds the contact and publishes. The server extracts the fields from the text.");
  const sofa = await publish(`${SOFA} ${CONTACT}`);
  tell("calls left", `${sofa.left} this hour`);

  step("She publishes more offers in other languages. The request does not name the language.");
  for (const text of TEXTS) await publish(text);
  return sofa.id;
};

const buy = async (tom: Agent, sofa: string, undo: Undo[]): Promise<void> => {
  step("Tom's agent searches. Every result passes the filter. Words and their meaning decide the rank.");
  const query = { query: "sofa in good condition", filters: { location: "Berlin" } };
  const found = expect(await call(tom, "POST", "/v1/offers/search", query), 200, search.searchResponse);
  for (const listing of found.results.slice(0, 3)) tellListing(listing);
  if (found.results.length === 0) fail("a sofa among the results", found);

  step("Tom says what he wants. His agent creates an ask, which is also matched with offers published later.");
  const ask = expect(await call(tom, "POST", "/v1/asks", { text: WANTED }), 201, asks.ask);
  undo.push(async () => {
    const fulfilled = await call(tom, "POST", `/v1/asks/${ask.id}/fulfill`);
    if (expect(fulfilled, 200, asks.ask).status !== "fulfilled") fail("a fulfilled ask", fulfilled.body);
  });
  for (const name of ["title", "domain", "category", "ask_kind", "criteria"] as const) tell(name, ask[name]);

  step("Tom's agent reads the matches of the ask, with the verdict on each thing that Tom wants.");
  const path = `/v1/asks/${ask.id}/matches?limit=50`;
  const { results } = expect(await call(tom, "GET", path), 200, asks.askMatches);
  // If others use the market too, their offers may rank higher.
  const match = results.find(({ id }) => id === sofa) ?? fail("Lena's sofa among the matches", results);
  tellListing(match);
  for (const { criterion, verdict, wanted, found: has } of match.match.reasons) {
    print(
      `        ${criterion.padEnd(10)} ${verdict.padEnd(8)} wanted ${JSON.stringify(wanted)}, found ${JSON.stringify(has)}`,
    );
  }

  step("Tom's agent reads the offer in full, and tells Tom how to reach Lena.");
  const offer = expect(await call(tom, "GET", `/v1/offers/${sofa}`), 200, offers.offer);
  if (!("document" in offer)) return fail("a published offer", offer);
  tell("description", offer.document.description);
  tell("contact", offer.content.contact.methods[0]);
  tell("publisher", offer.publisher);
};

const play = async (baseUrl: string, undo: Undo[]): Promise<void> => {
  step("Lena's agent connects with one call. It needs no sign-up and no key.");
  const lena = await connect(baseUrl, "Lena");

  step("Lena has not approved it yet, so it may search and read, but not publish.");
  const early = await call(lena.agent, "POST", "/v1/offers", { text: `${SOFA} ${CONTACT}` });
  tell("detail", expect(early, 403, problems.verificationRequired).detail);

  step("Lena opens the link that her agent gave her, compares the code, and approves.");
  await approve("Lena", lena.link, lena.code);
  const me = expect(await call(lena.agent, "GET", "/v1/me"), 200, connecting.me);
  if (!me.account.connected) fail("a connected agent", me);
  const allowed = Object.entries(me.permissions).filter(([, permission]) => permission.allowed);
  tell("may now", allowed.map(([name]) => name).join(", "));
  tell("next", me.next[0]?.summary);

  const sofa = await sell(lena.agent, undo);

  step("Tom's agent connects, and Tom approves it.");
  const tom = await connect(baseUrl, "Tom");
  await approve("Tom", tom.link, tom.code);

  await buy(tom.agent, sofa, undo);

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
