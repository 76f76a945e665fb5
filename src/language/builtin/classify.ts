import type { ASK_KINDS, OFFER_KINDS } from "../reading.ts";
import type { Hit, Lexicon } from "./lexicon.ts";
import type { Token } from "./tokens.ts";
import { isWork, type Tally, weighKinds, weighThings } from "./weigh.ts";

/**
 * What kind of offer or ask a text is, and of what: kind, domain and category are weighed together, since each tells
 * about the others ("plumber wanted" is a job, "plumber, 20 years of experience" a service).
 */

export type OfferKind = (typeof OFFER_KINDS)[number];
export type AskKind = (typeof ASK_KINDS)[number];

/** A decision, how sure it is, and the term that decided. */
export type Decision<T extends string = string> = { value: T; confidence: number; hit: Hit };

export type Classified<K extends string> = {
  kind: Decision<K> | null;
  domain: Decision | null;
  category: Decision | null;
};

/** Evidence for kinds from outside the vocabulary, such as the period of the price. */
export type KindHints<K extends string> = Partial<Record<K, number>>;

/** Evidence for a kind in the light of the thing: the sum asked for a flat tells a rent from a sale. */
export type Affinity<K extends string> = (kind: K, domain: string, category: string | null) => number;

const NONE: Affinity<string> = () => 0;

/** Rooms and holiday homes are hardly ever sold, and parking seldom. */
const LET: Readonly<Record<string, number>> = { rooms: 4, vacation: 2.5, parking_storage: 1, commercial: 0.5 };
const LETTING: ReadonlySet<string> = new Set(["rental", "rent", "lease_out"]);
const SELLING: ReadonlySet<string> = new Set(["sale", "buy", "sell"]);

/** A sum without a period: below it is a month's rent, above it a home's price. Few homes cost less, few months more. */
const RENT_AT_MOST = 6_000;
const HOME_AT_LEAST = 15_000;
const BY_SUM = 2.5;

/**
 * How kinds go together with homes and rooms.
 *
 * @param amount the sum that is named, without a period; null when none is
 */
export const affinityOf =
  (amount: number | null): Affinity<string> =>
  (kind, domain, category) => {
    if (domain !== "real_estate") return 0;
    const letting = LETTING.has(kind);
    if (!letting && !SELLING.has(kind)) return 0;
    const usual = letting ? (LET[category ?? ""] ?? 0) : 0;
    if (amount === null || amount === 0) return usual;
    const rent = amount <= RENT_AT_MOST ? BY_SUM : amount >= HOME_AT_LEAST ? -BY_SUM : 0;
    return usual + (letting ? rent : -rent) / 2;
  };

/** What answers an ask: the kinds of offer it is looked for (or, to sell and to let, would be filed) under. */
const OFFERS_FOR: Readonly<Record<AskKind, readonly OfferKind[]>> = {
  buy: ["sale"],
  rent: ["rental"],
  sell: ["sale"],
  lease_out: ["rental"],
  hire: ["service_offer"],
  offer_service: ["project_hire"],
  dating: ["dating"],
  friendship: ["friendship"],
  general: ["sale", "rental", "service_offer", "project_hire", "dating", "friendship"],
};

/** What a text without any word of its kind is: most offers sell, most asks buy, and who names a trade wants it done. */
const OFFER_PRIORS: Readonly<Record<OfferKind, number>> = {
  sale: 1.4,
  rental: 0,
  service_offer: 0.7,
  project_hire: 0,
  dating: 0,
  friendship: 0,
};
const ASK_PRIORS: Readonly<Record<AskKind, number>> = {
  buy: 1.2,
  rent: 0,
  sell: 0,
  lease_out: 0,
  hire: 1.2,
  offer_service: 0,
  dating: 0,
  friendship: 0,
  general: 0,
};

/** What the thing weighs against the words of the kind. */
const THING = 1.25;

/** Beyond this more evidence of the same adds little: five words of a gearbox do not outweigh the car. */
const SATURATION = 9;
const KIND_SATURATION = 16;

/** Evidence that a thing is what is offered; with less of it, what goes with the thing counts less. */
const SURE_THING = 4;

/** Below this a category is a guess. */
const LEAST_THING = 0.9;
const LEAST_KIND = 1.5;

/** As many words as are quoted for what no single term says. */
const OPENING = 8;

const saturate = (evidence: number, most: number): number =>
  evidence <= 0 ? 0 : (evidence * most) / (evidence + most);

/** How much of what speaks for a work done speaks for the same work wanted, and the other way round. */
const LENT = 0.85;

const PASTIME = "friendship";
const ACTIVITY = "activities";
const PASTIMES = ["hobbies/sports", "hobbies/toys_games", "hobbies/music_instruments", "hobbies/other_hobbies"];
const LENT_PASTIME = 0.5;

/** Evidence for a work that words of the thing do not outweigh, and how much of theirs counts for it. */
const SURE_WORK = 2.4;
const LENT_GOODS = 0.75;

type Candidate<K extends string> = { kind: K; domain: string; category: string | null; score: number; thing: number };

/** All combinations of kind, domain and category that the taxonomy allows, best first. */
const combine = <K extends string>(
  lexicon: Lexicon,
  things: Tally,
  kindScore: (kind: K) => number,
  kinds: readonly K[],
  offersOf: (kind: K) => readonly string[],
  affinity: Affinity<K>,
  kindEvidence: (kind: K) => number,
): Candidate<K>[] => {
  const candidates: Candidate<K>[] = [];
  const goods = Math.max(
    0,
    ...lexicon.taxonomy
      .filter((one) => !isWork(one.kinds))
      .flatMap((one) => one.categories.map((category) => things.get(`${one.domain}/${category}`)?.score ?? 0)),
  );
  for (const { domain, kinds: allowed, categories } of lexicon.taxonomy) {
    // Who does a work and who is wanted for it are called by the same names: the words of one speak for the other too.
    const lent = !isWork(allowed)
      ? 0
      : Math.max(
          0,
          ...lexicon.taxonomy
            .filter((other) => other.domain !== domain && isWork(other.kinds))
            .flatMap((other) =>
              other.categories.map((category) => things.get(`${other.domain}/${category}`)?.score ?? 0),
            ),
        ) * LENT;
    const whole = Math.max(things.get(domain)?.score ?? 0, lent);
    // What people do together is called by what they do it with: "play chess", "running shoes".
    const pastime = allowed.includes(PASTIME)
      ? Math.max(0, ...PASTIMES.map((path) => things.get(path)?.score ?? 0))
      : 0;
    const rest = categories.find((category) => category.startsWith("other_")) ?? null;
    for (const kind of kinds) {
      const offers = offersOf(kind).filter((offer) => allowed.includes(offer));
      if (offers.length === 0) continue;
      const base = kindScore(kind);
      // Who wants something done names what it is done to: "who can restring two rackets".
      const done = isWork(allowed) && kindEvidence(kind) >= SURE_WORK ? goods * LENT_GOODS : 0;
      candidates.push({
        kind,
        domain,
        category: lent > 0 && whole >= LEAST_THING ? rest : null,
        score:
          base +
          affinity(kind, domain, null) * Math.min(1, whole / SURE_THING) +
          saturate(Math.max(whole, done), SATURATION) * THING,
        thing: whole,
      });
      for (const category of categories) {
        // A category named as a kind is that kind's own: dating/dating holds no friendships.
        if (allowed.includes(category) && !offers.includes(category)) continue;
        const activity = category === ACTIVITY && pastime > 0 && offers.includes(PASTIME) ? pastime * LENT_PASTIME : 0;
        const own = Math.max(things.get(`${domain}/${category}`)?.score ?? 0, activity);
        if (own <= 0) continue;
        const thing = own + Math.max(whole, done) / 2;
        const sureness = Math.min(1, thing / SURE_THING);
        const score = base + affinity(kind, domain, category) * sureness + saturate(thing, SATURATION) * THING;
        candidates.push({ kind, domain, category, score, thing });
      }
    }
  }
  return candidates.sort((a, b) => b.score - a.score);
};

/** 0.5 where the next best is as good, towards 1 as it falls behind. */
const certainty = (best: number, next: number): number =>
  Math.round(Math.min(0.98, 0.55 + 0.45 * ((best - next) / (best + 1))) * 100) / 100;

const decide = <K extends string>(
  lexicon: Lexicon,
  tokens: readonly Token[],
  hits: readonly Hit[],
  options: {
    family: "kind" | "ask_kind";
    language: string | null;
    kinds: readonly K[];
    priors: Readonly<Record<K, number>>;
    hints: KindHints<K>;
    offersOf: (kind: K) => readonly string[];
    affinity: Affinity<K>;
  },
): Classified<K> => {
  const things = weighThings(lexicon, tokens, hits, options.family, options.language);
  const kindTally = weighKinds(tokens, hits, options.family);
  const kindScore = (kind: K): number =>
    options.priors[kind] + saturate(kindTally.get(kind)?.score ?? 0, KIND_SATURATION) + (options.hints[kind] ?? 0);
  const candidates = combine(
    lexicon,
    things,
    kindScore,
    options.kinds,
    options.offersOf,
    options.affinity,
    // An offer names what it does itself; who asks for a work often names the thing alone.
    (kind) => (options.family === "ask_kind" ? (kindTally.get(kind)?.score ?? 0) : 0),
  );
  const best = candidates[0];
  if (best === undefined || (best.thing <= 0 && best.score < LEAST_KIND))
    return { kind: null, domain: null, category: null };

  const rival = (differs: (candidate: Candidate<K>) => boolean): number =>
    candidates.find((candidate) => differs(candidate))?.score ?? 0;
  const category = best.category === null ? null : `${best.domain}/${best.category}`;
  const thingHit = (category === null ? undefined : things.get(category)?.best) ?? things.get(best.domain)?.best;
  // What only the turns of the text say, it says from its first words on.
  const opening: Hit = {
    family: options.family,
    value: best.kind,
    weight: 0,
    from: 0,
    to: Math.min(tokens.length, OPENING),
    term: "",
  };
  const told = (options.hints[best.kind] ?? 0) >= LEAST_KIND && tokens.length > 0;
  const kindHit = kindTally.get(best.kind)?.best ?? thingHit ?? (told ? opening : undefined);
  const domainHit = thingHit ?? kindHit;
  const known = best.thing >= LEAST_THING;
  // A kind that only one domain is for names the domain too: a job is in jobs_projects whatever the job is.
  const homes = lexicon.taxonomy.filter((one) =>
    options.offersOf(best.kind).some((offer) => one.kinds.includes(offer)),
  );
  const works = homes.filter((one) => isWork(one.kinds));
  const home = homes.length === 1 ? homes[0] : works.length === 1 ? works[0] : undefined;
  const domainKnown = known || (home?.domain === best.domain && (told || kindTally.has(best.kind)));
  return {
    kind:
      kindHit === undefined
        ? null
        : {
            value: best.kind,
            confidence: certainty(
              best.score,
              rival((c) => c.kind !== best.kind),
            ),
            hit: kindHit,
          },
    domain:
      domainHit === undefined || !domainKnown
        ? null
        : {
            value: best.domain,
            confidence: certainty(
              best.score,
              rival((c) => c.domain !== best.domain),
            ),
            hit: domainHit,
          },
    category:
      domainHit === undefined || !known || best.category === null
        ? null
        : {
            value: best.category,
            confidence: certainty(
              best.score,
              rival((c) => c.domain !== best.domain || (c.category !== null && c.category !== best.category)),
            ),
            hit: thingHit ?? domainHit,
          },
  };
};

/** Classifies an offer. */
export const classifyOffer = (
  lexicon: Lexicon,
  tokens: readonly Token[],
  hits: readonly Hit[],
  language: string | null,
  hints: KindHints<OfferKind> = {},
  affinity: Affinity<OfferKind> = NONE,
): Classified<OfferKind> =>
  decide(lexicon, tokens, hits, {
    family: "kind",
    language,
    kinds: Object.keys(OFFER_PRIORS) as OfferKind[],
    priors: OFFER_PRIORS,
    hints,
    offersOf: (kind) => [kind],
    affinity,
  });

/** Classifies an ask: domain and category are those under which a matching offer is filed. */
export const classifyAsk = (
  lexicon: Lexicon,
  tokens: readonly Token[],
  hits: readonly Hit[],
  language: string | null,
  hints: KindHints<AskKind> = {},
  affinity: Affinity<AskKind> = NONE,
): Classified<AskKind> =>
  decide(lexicon, tokens, hits, {
    family: "ask_kind",
    language,
    kinds: Object.keys(ASK_PRIORS) as AskKind[],
    priors: ASK_PRIORS,
    hints,
    offersOf: (kind) => OFFERS_FOR[kind],
    affinity,
  });
