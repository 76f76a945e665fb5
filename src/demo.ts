import {
  type Event,
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
 * Then the two agents agree on the sofa, and their persons confirm it. The agents use the typed client. Both persons
 * approve them, and confirm, on the real pages, as a browser would. The service's URL is
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

/** A person's browser, which keeps cookies. It opens a page, or sends its form, and prints `shown` for the link. */
type Browser = (link: string, shown: string, form?: Record<string, string>) => Promise<string>;

const openBrowser = (who: string): Browser => {
  const cookies = new Map<string, string>();
  return async (link, shown, form) => {
    print(`   > ${form ? "POST" : "GET"} ${shown}   (${who}'s browser)`);
    const page = await fetch(link, {
      method: form ? "POST" : "GET",
      headers: {
        accept: "text/html",
        origin: new URL(link).origin,
        cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; "),
      },
      ...(form ? { body: new URLSearchParams(form) } : {}),
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    for (const cookie of page.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      cookies.set(name, value);
    }
    print(`   < ${page.status} ${page.statusText}`);
    const html = await page.text();
    return page.status === 200 ? html : fail("a page", html);
  };
};

/** Returns the value of a hidden field of a page. */
const fieldOf = (html: string, name: string): string =>
  new RegExp(`name="${name}" value="([^"]+)"`).exec(html)?.[1] ?? fail(`a page with the field ${name}`, html);

/** Acts as the person: opens the page of an agent's link, and picks the code that the agent shows. */
const approve = async (browser: Browser, link: string, code: string): Promise<void> => {
  const html = await browser(link, "/connect/…");
  if (!html.includes(code)) fail("a page with the code", html);
  const codes = [...html.matchAll(/name="code" value="([^"]+)"/g)].map(([, shown]) => shown);
  tell("page shows", `the codes ${codes.join(", ")}`);
  await browser(link, `the form, with the button ${code}, which the agent showed`, {
    token: fieldOf(html, "token"),
    code,
  });
};

/** Acts as the person: opens the page of a confirmation, and confirms what it shows. */
const confirm = async (browser: Browser, link: string): Promise<void> => {
  const html = await browser(link, "/confirmations/…");
  tell("page shows", /<h1>(.*?)<\/h1>/s.exec(html)?.[1]);
  const form = { token: fieldOf(html, "token"), digest: fieldOf(html, "digest"), decision: "confirm" };
  const done = await browser(link, "the form, with the button Confirm", form);
  tell("page shows", /<h1>(.*?)<\/h1>/s.exec(done)?.[1]);
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

  step("Tom's agent reads the offer in full.");
  const offer = await tom.call("GET /v1/offers/{id}", { path: { id: sofa } });
  if (!("document" in offer)) return fail("a published offer", offer);
  tell("description", offer.document.description);
  tell("contact", offer.content.contact.methods[0]);
  tell("publisher", offer.publisher);
};

/** Does something while an agent waits for events, until it is told of what was done. */
type Hear = <Done>(isIt: (event: Event, done: Done) => boolean, act: () => Promise<Done>) => Promise<Done>;

/** Makes an agent wait for events in one open call after another. */
const listen = async (agent: Market): Promise<Hear> => {
  let { cursor } = await agent.call("GET /v1/events", { query: { after: "now" } });
  const next = async () => {
    const { events, cursor: after } = await agent.call("GET /v1/events", { query: { after: cursor, wait: WAIT_S } });
    cursor = after;
    return { events, at: performance.now() };
  };
  return async (isIt, act) => {
    let waiting = next();
    const done = await act();
    const acted = performance.now();
    for (;;) {
      const { events, at } = await waiting;
      const event = events.find((one) => isIt(one, done));
      if (event) {
        tell("told", `${event.type}, ${Math.max(0, Math.round(at - acted))} ms after the answer to the other side`);
        return done;
      }
      // If others use the market too, their events may come first.
      if (at - acted > PATIENCE_MS) fail("an event about what was done", events);
      waiting = next();
    }
  };
};

const beTold = async (hear: Hear, lena: Market, undo: Undo[]): Promise<void> => {
  step(
    "Tom's agent waits for the next event, in one open call. Lena publishes another sofa, and Tom's agent hears of it.",
  );
  await hear<string>(
    ({ type, data }, id) => type === "match.created" && data.offer_id === id,
    async () => {
      const { offer_id: id } = await lena.call("POST /v1/offers", { body: { text: `${SECOND_SOFA} ${CONTACT}` } });
      undo.push(async () => void (await lena.call("POST /v1/offers/{id}/archive", { path: { id } })));
      return id;
    },
  );
};

/** A person with an agent that listens. */
type Side = { agent: Market; browser: Browser; hear: Hear };

const priceOf = (amount: number) => ({ price: { amount, currency: "EUR" }, handover: { method: "pickup" as const } });

/** The two agents agree on the sofa, and both persons confirm it. */
const agree = async (tom: Side, lena: Side, sofa: string): Promise<void> => {
  const about = (type: Event["type"], id: string) => (event: Event) =>
    event.type === type && event.data.conversation_id === id;

  step("Tom's agent asks about the sofa, and proposes what Tom would like to pay. Lena's agent hears of it.");
  const { id } = await lena.hear(
    ({ type, data }, opened: { id: string }) => type === "proposal.received" && data.conversation_id === opened.id,
    () =>
      tom.agent.call("POST /v1/offers/{id}/conversations", {
        path: { id: sofa },
        body: {
          text: "Is it still there? Tom could come on Friday.",
          proposal: priceOf(150),
          contact: "tom@example.com",
        },
      }),
  );
  const path = { id };

  step("Lena's agent reads it as the words of a stranger, and proposes 170 instead.");
  const { messages } = await lena.agent.call("GET /v1/conversations/{id}", { path });
  tell("they say", messages.results[0]?.text);
  const { proposal } = await tom.hear(about("proposal.received", id), () =>
    lena.agent.call("POST /v1/conversations/{id}", { path, body: { text: "Yes. 170, then.", proposal: priceOf(170) } }),
  );
  if (proposal === null) return fail("a proposal", proposal);

  step("Tom's agent accepts. Neither may agree alone, so both persons are asked.");
  const accepted = await lena.hear(about("agreement.awaiting", id), () =>
    tom.agent.call("POST /v1/conversations/{id}/proposals/{proposal_id}/accept", {
      path: { id, proposal_id: proposal.id },
    }),
  );
  tell("agreement", `${accepted.agreement?.status}, by ${accepted.agreement?.awaiting.join(" and ")}`);

  step("Each agent gives its person the link. Both read what is agreed, and confirm. Both agents hear of it.");
  for (const [side, type] of [
    [tom, "confirmation.decided"],
    [lena, "agreement.made"],
  ] as const) {
    const { pending_confirmations: pending } = await side.agent.call("GET /v1/me");
    const link = pending[0]?.url ?? fail("a confirmation", pending);
    await side.hear(about(type, id), () => confirm(side.browser, link));
  }

  step("It is agreed: both see how to reach each other.");
  for (const side of [tom, lena]) {
    const { agreement, contact } = await side.agent.call("GET /v1/conversations/{id}", { path });
    tell("agreement", agreement?.status);
    tell("contact", contact?.text ?? contact?.methods[0]?.value ?? fail("the other side's contact", contact));
  }

  step("The sofa is sold, so Lena's agent archives the offer.");
  const { status } = await lena.agent.call("POST /v1/offers/{id}/archive", { path: { id: sofa } });
  tell("status", status);
};

const play = async (baseUrl: string, undo: Undo[]): Promise<void> => {
  step("Lena's agent connects with one call. It needs no sign-up and no key.");
  const lena = await connect(baseUrl, "Lena");

  step("Lena has not approved it yet, so it may search and read, but not publish.");
  const early = lena.agent.call("POST /v1/offers", { body: { text: `${SOFA} ${CONTACT}` } });
  tell("detail", (await refusal(early, "verification_required")).detail);

  step("Lena opens the link that her agent gave her, and picks the code that it showed her.");
  const browser = openBrowser("Lena");
  await approve(browser, lena.link, lena.code);
  const me = await lena.agent.call("GET /v1/me");
  if (!me.account.connected) fail("a connected agent", me);
  const allowed = Object.entries(me.permissions).filter(([, permission]) => permission.allowed);
  tell("may now", allowed.map(([name]) => name).join(", "));
  tell("next", me.next[0]?.summary);

  const sofa = await sell(lena.agent, undo);

  step("Tom's agent connects, and Tom approves it.");
  const tom = await connect(baseUrl, "Tom");
  const toms = openBrowser("Tom");
  await approve(toms, tom.link, tom.code);

  await buy(tom.agent, sofa, undo);
  const hear = await listen(tom.agent);
  await beTold(hear, lena.agent, undo);
  const lenas = { agent: lena.agent, browser, hear: await listen(lena.agent) };
  await agree({ agent: tom.agent, browser: toms, hear }, lenas, sofa);

  step("Tom's ask is marked as fulfilled, and Lena's other offers are archived.");
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
