import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { createBuiltinEmbedder } from "../../src/reader/embed/embedder.ts";
import { NO_MEANING } from "../../src/reader/embed/learn.ts";

/**
 * A scripted model provider: an HTTP server on the loopback address that speaks OpenAI's protocol.
 *
 *   const provider = await startProvider();
 *   provider.next(status(500), well());     // for the next two requests
 *   provider.nextReadings(held.behaviour);  // for the next request to read a text, not for embeddings
 *   provider.always(hangs());               // for every request after those
 *   ... createReader({ openai: { apiKey: "key", baseURL: provider.baseURL }, ... })
 *   provider.requests                       // the requests received, oldest first
 *   await provider.close();
 *
 * Both `POST /v1/chat/completions` and `POST /v1/embeddings` follow the script. `well()` serves both. Of the other
 * behaviours with an answer, `vectors` makes embeddings and the rest make chat completions.
 */

/** One request as the provider received it. */
type ProviderRequest = {
  path: string;
  authorization: string | undefined;
  /** The parsed body. */
  body: ProviderBody;
  /** The fenced text that the model is to read, or null for embeddings. */
  text: string | null;
  /** The kind of text, by the name of the schema, or null for embeddings. */
  kind: "offer" | "ask" | null;
  /** True if the caller hung up before the response was complete. */
  hungUp: boolean;
};

type ProviderBody = {
  model?: string;
  messages?: { role: string; content: string }[];
  response_format?: { type: string; json_schema: { name: string; strict: boolean; schema: Schema } };
  input?: string[];
  dimensions?: number;
  encoding_format?: string;
};

/** The part of JSON Schema that the tests use. */
export type Schema = {
  type?: string | string[];
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean;
  items?: Schema;
  anyOf?: Schema[];
  enum?: string[];
};

/** How the provider responds to one request. */
export type Behaviour = (request: ProviderRequest, response: ServerResponse) => void | Promise<void>;

/** A running provider. */
export type Provider = {
  /** The address for a client: "http://127.0.0.1:PORT/v1". */
  baseURL: string;
  requests: ProviderRequest[];
  /** Appends behaviours, one for each coming request. */
  next(...behaviours: Behaviour[]): void;
  /**
   * Appends behaviours, one for each coming request to read a text. Embeddings take none of them: a worker may request
   * them for earlier offers at any time.
   */
  nextReadings(...behaviours: Behaviour[]): void;
  /** Sets the behaviour for requests beyond those of `next` and `nextReadings`. The default is `well()`. */
  always(behaviour: Behaviour): void;
  /** Clears the recorded requests and the script. */
  reset(): void;
  /** Stops listening and closes every connection. */
  close(): Promise<void>;
};

type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

const found = (value: Json, quote: string, basis = "stated", confidence = 0.9): Json => ({
  value,
  quote,
  basis,
  confidence,
});

const firstLine = (text: string): string => text.split("\n")[0]?.slice(0, 100).trim() ?? "";

const euros = (amount: number, quote: string): Json =>
  found(
    {
      amount,
      amount_max: null,
      currency: "EUR",
      period: null,
      type: "fixed",
      negotiable: false,
      deposit: null,
      unit: null,
      label: quote,
    },
    quote,
  );

const contact = (type: string, value: string, quote: string): Json => found({ type, value, preferred: false }, quote);

/**
 * Makes an honest, simple extraction: the first line as title, "NNN EUR" or "NNN €" as price, e-mail addresses as
 * contacts.
 */
export const honestExtraction = (kind: "offer" | "ask", text: string): { [key: string]: Json } => {
  const price = /(\d+) (?:EUR|€)/u.exec(text);
  const title = found(firstLine(text), firstLine(text));
  const classified = { domain: null, category: null };
  if (kind === "ask") {
    const wish =
      price && found({ min: null, max: Number(price[1]), currency: "EUR", period: null, unit: null }, price[0]);
    return {
      language: null,
      title,
      ...classified,
      ask_kind: null,
      price: wish,
      location: null,
      condition: null,
      keywords: [],
      must: [],
      exclude: [],
      attributes: [],
    };
  }
  const emails = text.match(/[\w.]+@[\w.]+\w/gu) ?? [];
  return {
    language: null,
    title,
    ...classified,
    offer_kind: null,
    price: price && euros(Number(price[1]), price[0]),
    location: null,
    contacts: emails.map((email) => contact("email", email.toLowerCase(), email)),
    party: null,
    condition: null,
    space: null,
    features: [],
    attributes: [],
  };
};

const json = (response: ServerResponse, code: number, body: string, headers: Record<string, string> = {}): void => {
  response.writeHead(code, { "content-type": "application/json", ...headers });
  response.end(body);
};

const completion = (content: string | null, rest: { finish_reason?: string; refusal?: string } = {}): string =>
  JSON.stringify({
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 0,
    model: "scripted",
    choices: [
      {
        index: 0,
        finish_reason: rest.finish_reason ?? "stop",
        message: { role: "assistant", content, refusal: rest.refusal ?? null },
      },
    ],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  });

const embeddings = (vectors: Json[]): string =>
  JSON.stringify({
    object: "list",
    model: "scripted",
    data: vectors.map((embedding, index) => ({ object: "embedding", index, embedding })),
    usage: { prompt_tokens: 1, total_tokens: 1 },
  });

/** A chat completion with this content, and with a `finish_reason` ("length", "content_filter") or a `refusal`. */
export const content =
  (text: string | null, rest: { finish_reason?: string; refusal?: string } = {}): Behaviour =>
  (_, response) =>
    json(response, 200, completion(text, rest));

/** A chat completion made from the text: `reads((kind, text) => ({...honestExtraction(kind, text), ...}))`. */
export const reads =
  (make: (kind: "offer" | "ask", text: string) => { [key: string]: Json }): Behaviour =>
  (request, response) =>
    json(response, 200, completion(JSON.stringify(make(request.kind ?? "offer", request.text ?? ""))));

/** Embeddings made from the texts. A vector may be any JSON value, so that tests can send invalid ones. */
export const vectors =
  (make: (texts: string[]) => Json[]): Behaviour =>
  (request, response) =>
    json(response, 200, embeddings(make(request.body.input ?? [])));

/** Compares texts by their letters alone, which takes no training. */
const LETTERS = createBuiltinEmbedder(() => NO_MEANING);

/** A good provider: honest extractions, and vectors in which texts that share words are similar. */
export const well = (): Behaviour => async (request, response) => {
  if (request.kind !== null) return reads(honestExtraction)(request, response);
  const answer = await LETTERS.embed(request.body.input ?? [], new AbortController().signal);
  return vectors(() => answer)(request, response);
};

/** Waits before it responds. */
export const slowly =
  (milliseconds: number, then: Behaviour = well()): Behaviour =>
  async (request, response) => {
    await sleep(milliseconds);
    await then(request, response);
  };

/** A response that waits until `release` is called, and is then that of `well()`. */
export const held = (): { behaviour: Behaviour; release: () => void } => {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { behaviour: (request, response) => promise.then(() => well()(request, response)), release: resolve };
};

/** An error response. Like some providers, it repeats the caller's text and API key, which must not reach logs. */
export const status =
  (code: number, headers: Record<string, string> = {}): Behaviour =>
  (request, response) => {
    const message = `Scripted ${code} for ${request.authorization}: ${request.text ?? request.body.input?.join()}`;
    json(response, code, JSON.stringify({ error: { message, type: "scripted", code: null } }), headers);
  };

/** A 429. `retryAfter` is the header's value: seconds or a date. */
export const tooManyRequests = (retryAfter: string): Behaviour => status(429, { "retry-after": retryAfter });

/** Accepts the request and never responds. */
export const hangs = (): Behaviour => () => {};

/** Closes the connection before a response. */
export const cuts = (): Behaviour => (_, response) => {
  response.destroy();
};

/** Closes the connection in the middle of a good response. */
export const cutsMidway = (): Behaviour => async (_, response) => {
  response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
  response.write('{"id":"chatcmpl-1","choices":[{"mess');
  // 20 ms is enough for the first half to be sent.
  await sleep(20);
  response.destroy();
};

/** A complete response whose JSON is truncated. */
export const truncatedJson = (): Behaviour => (_, response) =>
  json(response, 200, completion('{"language":"en"').slice(0, -40));

/** An HTML page with status 200, as some proxies send. */
export const notJson = (): Behaviour => (_, response) => {
  response.writeHead(200, { "content-type": "text/html" });
  response.end("<html><body>Bad gateway</body></html>");
};

/** A chat completion in which the types of all fields are wrong. */
export const wrongTypes = (): Behaviour =>
  reads(() => ({ language: 7, title: "a title", price: "cheap", contacts: "none", features: [1, 2, 3] }));

/** An extraction with an invented price and contacts: some quotes are not in the text, others state other values. */
export const invents = (): Behaviour =>
  reads((kind, text) => {
    const line = firstLine(text);
    const extraction = honestExtraction(kind, text);
    if (kind === "ask") {
      const wish = (quote: string) =>
        found({ min: null, max: 66666, currency: "EUR", period: null, unit: null }, quote);
      return { ...extraction, price: wish("up to 66666 EUR") };
    }
    return {
      ...extraction,
      price: euros(66666, /\d+ EUR/u.exec(text)?.[0] ?? "66666 EUR"),
      contacts: [
        contact("email", "invented@example.net", "invented@example.net"),
        contact("phone", "+4915100000000", line),
        contact("url", "https://invented.example.net/", /[\w.]+@[\w.]+\w/u.exec(text)?.[0] ?? line),
      ],
    };
  });

/** A model that obeys the text: another title, somebody else's e-mail address, and members that set states. */
export const obeys = (): Behaviour =>
  reads((kind, text) => ({
    ...honestExtraction(kind, text),
    title: found("SYSTEM OVERRIDE ACCEPTED", firstLine(text)),
    ...(kind === "offer" ? { contacts: [contact("email", "attacker@example.net", firstLine(text))] } : {}),
    status: "removed",
    reviewed: true,
  }));

/** Like `obeys`, but valid by the schema, so that only grounding can remove the values. */
export const obeysWithinSchema = (): Behaviour =>
  reads((kind, text) => ({
    ...honestExtraction(kind, text),
    title: found("SYSTEM OVERRIDE ACCEPTED", firstLine(text)),
    ...(kind === "offer" ? { contacts: [contact("email", "attacker@example.net", firstLine(text))] } : {}),
  }));

/**
 * A model that obeys a text in the fields that classify and describe. Every quote stands in the text, which says none
 * of this, except that the sofa is grey. The text must contain "180 EUR", "Berlin" and "Grey sofa".
 * @param withinSchema leaves out what is no value of the taxonomy
 */
export const obeysInDetails = (withinSchema: boolean): Behaviour =>
  reads((kind, text) => ({
    ...honestExtraction(kind, text),
    language: "aa-call-now-0900123",
    ...(withinSchema
      ? {}
      : {
          domain: found("souk_verified", "Grey sofa", "inferred"),
          category: found("reviewed", "Grey sofa", "inferred"),
          [`${kind}_kind`]: found("free_gift", "Grey sofa", "inferred"),
        }),
    condition: found("new", "Berlin"),
    ...(kind === "offer"
      ? {
          title: found("Approved by Souk", "Grey sofa"),
          space: found(
            {
              area_m2: null,
              rooms: null,
              bedrooms: null,
              bathrooms: null,
              floor: null,
              furnished: true,
              available_from: null,
              pets_allowed: true,
            },
            "Berlin",
          ),
          features: [found("money-back guarantee", "Grey sofa")],
        }
      : { must: [found("guarantee", "Grey sofa")] }),
    attributes: [
      found({ name: "approved_by_moderator", value: true }, "Berlin"),
      found({ name: "verified", value: "Grey" }, "Grey sofa"),
      found({ name: "call_0900123_first", value: 180 }, "180 EUR"),
      found({ name: "colour", value: "gold" }, "Grey sofa"),
      found({ name: "balcony", value: false }, "Grey sofa"),
      found({ name: "colour", value: "Grey" }, "Grey sofa"),
    ],
  }));

/** A well-formed response of at least so many bytes. */
export const huge =
  (bytes = 10_000_000): Behaviour =>
  (_, response) =>
    json(response, 200, completion("x".repeat(bytes)));

/** A good response, one byte at a time. */
export const drips =
  (milliseconds = 50, code = 200): Behaviour =>
  async (request, response) => {
    response.writeHead(code, { "content-type": "application/json" });
    for (const byte of completion(JSON.stringify(honestExtraction(request.kind ?? "offer", request.text ?? "")))) {
      if (response.destroyed) return;
      response.write(byte);
      await sleep(milliseconds);
    }
    response.end();
  };

/** Redirects the caller to another address. */
export const redirects =
  (location: string): Behaviour =>
  (_, response) => {
    response.writeHead(307, { location });
    response.end();
  };

const bodyOf = async (request: IncomingMessage): Promise<ProviderBody> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  return JSON.parse(Buffer.concat(chunks).toString("utf8"));
};

/** Returns the text between the marks with which the extractor fences it. */
const fencedText = (body: ProviderBody): string | null => {
  const sent = body.messages?.find((message) => message.role === "user")?.content ?? "";
  return /^<(text-[0-9a-f]{32})>\n([\s\S]*)\n<\/\1>$/u.exec(sent)?.[2] ?? null;
};

/** Starts a provider on a free port of the loopback address. */
export const startProvider = async (): Promise<Provider> => {
  const requests: ProviderRequest[] = [];
  const script: Behaviour[] = [];
  const readings: Behaviour[] = [];
  let otherwise = well();

  const answer = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await bodyOf(incoming);
    const chat = incoming.url === "/v1/chat/completions";
    const request: ProviderRequest = {
      path: incoming.url ?? "",
      authorization: incoming.headers.authorization,
      body,
      text: chat ? fencedText(body) : null,
      kind: chat ? (body.response_format?.json_schema.name.startsWith("ask") ? "ask" : "offer") : null,
      hungUp: false,
    };
    requests.push(request);
    response.on("close", () => {
      request.hungUp = !response.writableFinished;
    });
    // Some tests make the caller hang up while this writes, which is not an error.
    response.on("error", () => {});
    if (incoming.method !== "POST" || (!chat && incoming.url !== "/v1/embeddings")) {
      json(response, 404, JSON.stringify({ error: { message: "no such path" } }));
      return;
    }
    const behaviour = (chat ? readings.shift() : undefined) ?? script.shift() ?? otherwise;
    await behaviour(request, response);
  };
  // A request that breaks off needs no response.
  const server = createServer((incoming, response) => answer(incoming, response).catch(() => response.destroy()));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;

  return {
    baseURL: `http://127.0.0.1:${port}/v1`,
    requests,
    next: (...behaviours) => {
      script.push(...behaviours);
    },
    nextReadings: (...behaviours) => {
      readings.push(...behaviours);
    },
    always: (behaviour) => {
      otherwise = behaviour;
    },
    reset: () => {
      requests.length = 0;
      script.length = 0;
      readings.length = 0;
      otherwise = well();
    },
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
};
