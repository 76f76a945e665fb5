import { type Agent, type Body, connectedAgent } from "../support/market.ts";
import type { CorpusText, LabelledAsk, LabelledMatch, LabelledOffer, LabelledQuery } from "./labels.ts";
import type { AskPrediction, FoundPrediction, OfferPrediction } from "./metrics.ts";

/**
 * Sends labelled texts to a running service, as agents would, and returns a prediction for each.
 */

/** Well below the hourly caps of a new account. */
const CALLS_PER_AGENT = 50;
/** The number of simultaneous calls that a machine with two processors can work on without queueing. */
const AT_ONCE = 4;
/** More than any ask of a corpus has, and the largest page allowed. */
const MATCHES = 50;
/** One page of ten, because the measures look at ten results. */
const RESULTS = 10;

/** A running service and the URL of its database, in which agents are approved. */
export type Target = { url: string; database: string };

/** Called after each text. */
export type Progress = (done: number, of: number) => void;

/** Makes one call as an agent that has calls left. @throws an Error if the status is not one of the wanted ones */
type Caller = (method: string, path: string, body: unknown, wanted: number | number[]) => Promise<Body>;

const callers = ({ url, database }: Target): (() => Promise<Caller>) => {
  let agent: Promise<Agent> | undefined;
  let left = 0;
  return async () => {
    if (left === 0) {
      agent = connectedAgent(url, database, "Eval");
      left = CALLS_PER_AGENT;
    }
    left -= 1;
    const { call } = (await agent) as Agent;
    return async (method, path, body, wanted) => {
      const answer = await call(method, path, body);
      if (![wanted].flat().includes(answer.status))
        throw new Error(`${method} ${path} gave ${answer.status}: ${answer.text}`);
      return answer.body;
    };
  };
};

/** Predicts every line, a few at once. Returns the predictions in the order of the lines. */
const inTurn = async <L, P>(
  lines: readonly L[],
  progress: Progress,
  predict: (line: L) => Promise<P>,
  atOnce = AT_ONCE,
): Promise<P[]> => {
  const predictions: P[] = [];
  let next = 0;
  let done = 0;
  const work = async () => {
    for (let at = next++; at < lines.length; at = next++) {
      predictions[at] = await predict(lines[at] as L);
      progress(++done, lines.length);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return predictions;
};

const offerPrediction = (id: string, read: Body): OfferPrediction => {
  const { price, location, contact } = read.extraction;
  const { amount, currency, period } = price?.value ?? {};
  return {
    id,
    rejected: contact.length === 0,
    title: read.title,
    domain: read.domain,
    category: read.category,
    offer_kind: read.offer_kind,
    price: typeof amount === "number" ? { amount, currency, period } : null,
    // What is done from anywhere is at no place.
    location: location?.value.remote && !location.value.country ? null : (location?.value.text ?? null),
    contacts: contact.map(({ value }: Body) => value),
  };
};

/** Previews each text. A preview reads the text as publishing would, and does not add it to the searched offers. */
export const readOffers = (
  target: Target,
  lines: readonly LabelledOffer[],
  progress: Progress,
): Promise<OfferPrediction[]> => {
  const caller = callers(target);
  return inTurn(lines, progress, async ({ id, text }) => {
    const call = await caller();
    return offerPrediction(id, await call("POST", "/v1/offers/preview", { text }, 200));
  });
};

/** Creates an ask from each text. */
export const readAsks = (
  target: Target,
  lines: readonly LabelledAsk[],
  progress: Progress,
): Promise<AskPrediction[]> => {
  const caller = callers(target);
  return inTurn(lines, progress, async ({ id, text }) => {
    const call = await caller();
    const { domain, category, ask_kind, criteria } = await call("POST", "/v1/asks", { text }, 201);
    const { max, currency } = criteria.price ?? {};
    return {
      id,
      domain,
      category,
      ask_kind,
      price_max: typeof max === "number" ? { amount: max, currency: currency ?? null } : null,
      location: criteria.location?.text ?? null,
    };
  });
};

/** The published corpus: the labels' ids by the ids of the market, and the ids of refused texts. */
export type Published = { nameOf: Map<string, string>; refused: string[] };

/** Publishes the corpus one text at a time, so that the order by age is the same in every run. */
export const publishCorpus = async (
  target: Target,
  corpus: readonly CorpusText[],
  progress: Progress,
): Promise<Published> => {
  const caller = callers(target);
  const published: Published = { nameOf: new Map(), refused: [] };
  const publish = async ({ id, text }: CorpusText): Promise<void> => {
    const call = await caller();
    const body = await call("POST", "/v1/offers", { text }, [201, 400]);
    if (body.code === undefined) published.nameOf.set(body.offer_id, id);
    else if (["missing_contact", "reads_as_ask"].includes(body.code)) published.refused.push(id);
    else throw new Error(`${id} was refused: ${JSON.stringify(body)}`);
  };
  await inTurn(corpus, progress, publish, 1);
  return published;
};

const namesOf = (body: Body, { nameOf }: Published): string[] =>
  body.results.flatMap(({ id }: Body) => nameOf.get(id) ?? []);

/** Searches with each query and its filters. */
export const search = (
  target: Target,
  lines: readonly LabelledQuery[],
  published: Published,
  progress: Progress,
): Promise<FoundPrediction[]> => {
  const caller = callers(target);
  return inTurn(lines, progress, async ({ id, query, filters }) => {
    const { kind, price_max: max, currency, ...rest } = filters;
    const price = max === undefined && currency === undefined ? {} : { price: { max, currency } };
    const asked = { ...rest, ...(kind === undefined ? {} : { offer_kind: kind }), ...price };
    const call = await caller();
    const body = await call("POST", "/v1/offers/search", { query, filters: asked, limit: RESULTS }, 200);
    return { id, results: namesOf(body, published) };
  });
};

/** Creates an ask from each text. Returns the offers that match it. */
export const match = (
  target: Target,
  lines: readonly LabelledMatch[],
  published: Published,
  progress: Progress,
): Promise<FoundPrediction[]> => {
  const caller = callers(target);
  return inTurn(lines, progress, async ({ id, ask_text: text }) => {
    const call = await caller();
    const ask = await call("POST", "/v1/asks", { text }, 201);
    const body = await call("GET", `/v1/asks/${ask.id}/matches?limit=${MATCHES}`, undefined, 200);
    return { id, results: namesOf(body, published) };
  });
};
