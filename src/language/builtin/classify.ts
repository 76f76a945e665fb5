import type { ASK_KINDS, OFFER_KINDS } from "../reading.ts";
import type { Hit, Lexicon } from "./lexicon.ts";
import type { Token } from "./tokens.ts";

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

/**
 * Words before a thing that make it an aside: "case for an iPhone", "with a desk", "no phone".
 * Between a word of the kind and the thing they mean nothing ("looking for a plumber").
 */
const ASIDE = new Set(
  `for with w incl includes included including plus without from near fits like mit inkl inklusive fur ohne samt neben
  avec pour sans pres inclus con para sin per senza com sem incluye inclui met voor zonder inclusief z ze dla bez od oraz
  on to at zum zur beim au aux contre tegen into off and und et y e en i`.split(/\s+/),
);
const NEGATION = new Set(
  "no not kein keine keinen nicht pas ni non nao geen niet nie never don isn without ohne".split(" "),
);

const ASIDE_FACTOR = 0.55;
const NEGATED_FACTOR = 0.2;

/** How far a thing is heard: the first words name it, later ones describe it. Counted in words. */
const FADING = 16;
const NEAREST = 2;
const FARTHEST = 0.3;

/** A thing named right after a word of the kind ("selling my", "suche") counts as if it stood at the start. */
const AFTER_KIND = 6;
const AFTER_KIND_BONUS = 0.8;
const LEAST_CUE = 2;

/** A term that comes again says little new. */
const REPEATED = 0.15;

/** What the thing weighs against the words of the kind. */
const THING = 1.25;

/** Beyond this more evidence of the same adds little: five words of a gearbox do not outweigh the car. */
const SATURATION = 9;
const KIND_SATURATION = 16;

/** Below this a category is a guess. */
const LEAST_THING = 0.9;
const LEAST_KIND = 1.5;

const saturate = (evidence: number, most: number): number =>
  evidence <= 0 ? 0 : (evidence * most) / (evidence + most);

/** A score per name, with the hit that gave most to it. */
type Tally = Map<string, { score: number; best: Hit; most: number; gifts: number[] }>;

/** Each further word for the same thing counts this much of the one before, strongest first: a list is not an argument. */
const NEXT = 0.6;

const give = (tally: Tally, name: string, score: number, hit: Hit): void => {
  const entry = tally.get(name) ?? { score: 0, best: hit, most: 0, gifts: [] };
  tally.set(name, entry);
  entry.gifts.push(score);
  if (score > entry.most) {
    entry.most = score;
    entry.best = hit;
  }
};

const sum = (tally: Tally): Tally => {
  for (const entry of tally.values()) {
    entry.score = entry.gifts.toSorted((a, b) => b - a).reduce((total, gift, order) => total + gift * NEXT ** order, 0);
  }
  return tally;
};

/** Kinds of work, for which the same people have the same names. */
const WORK: ReadonlySet<string> = new Set(["service_offer", "project_hire"]);
const LENT = 0.85;

/** A work that the first clause names is what is offered, whatever things it is done to: "sofa and carpet cleaning". */
const OPENING_WORK = 1.5;

const isWork = (kinds: readonly string[]): boolean => kinds.length === 1 && WORK.has(kinds[0] ?? "");

/** Whether and how a hit is an aside, by the words before it. */
const contextOf = (tokens: readonly Token[], hit: Hit, isCue: (at: number) => boolean): number => {
  for (let back = 1; back <= 2; back++) {
    const at = hit.from - back;
    const token = tokens[at];
    if (token === undefined || tokens[at + 1]?.opens) return 1;
    if (isCue(at)) return 1;
    if (NEGATION.has(token.folded)) return NEGATED_FACTOR;
    if (ASIDE.has(token.folded)) return ASIDE_FACTOR;
  }
  return 1;
};

/** Evidence for categories ("domain/category") and domains. */
const weighThings = (
  lexicon: Lexicon,
  tokens: readonly Token[],
  hits: readonly Hit[],
  cueFamily: "kind" | "ask_kind",
): Tally => {
  const tally: Tally = new Map();
  const cues = hits.filter((hit) => hit.family === cueFamily && hit.weight >= LEAST_CUE);
  const cueAt = new Set<number>();
  for (const cue of cues) for (let at = cue.from; at < cue.to; at++) cueAt.add(at);
  const afterCue = (at: number): boolean => {
    for (let back = at - 1; back >= 0 && back >= at - AFTER_KIND; back--) {
      if (cueAt.has(back)) return true;
      if (tokens[back + 1]?.opens) return false;
    }
    return false;
  };
  const works = new Set(lexicon.taxonomy.filter((one) => isWork(one.kinds)).map((one) => one.domain));
  const opening = tokens.findIndex((token, at) => at > 0 && token.opens);
  const seen = new Set<string>();
  for (const hit of hits) {
    if (hit.family !== "category" && hit.family !== "domain") continue;
    const work = works.has(hit.value.split("/")[0] ?? "") && (opening < 0 || hit.from < opening) ? OPENING_WORK : 1;
    const key = `${hit.value} ${hit.term}`;
    const nearness = FARTHEST + (NEAREST - FARTHEST) * Math.exp(-hit.from / FADING);
    const factor =
      (nearness + (afterCue(hit.from) ? AFTER_KIND_BONUS : 0)) * contextOf(tokens, hit, (at) => cueAt.has(at));
    give(tally, hit.value, hit.weight * factor * work * (seen.has(key) ? REPEATED : 1), hit);
    seen.add(key);
  }
  return sum(tally);
};

const weighKinds = (hits: readonly Hit[], family: "kind" | "ask_kind"): Tally => {
  const tally: Tally = new Map();
  const seen = new Set<string>();
  for (const hit of hits) {
    if (hit.family !== family) continue;
    const key = `${hit.value} ${hit.term}`;
    const factor = 0.5 + 0.7 * Math.exp(-hit.from / FADING);
    give(tally, hit.value, hit.weight * factor * (seen.has(key) ? REPEATED : 1), hit);
    seen.add(key);
  }
  return sum(tally);
};

type Candidate<K extends string> = { kind: K; domain: string; category: string | null; score: number; thing: number };

/** All combinations of kind, domain and category that the taxonomy allows, best first. */
const combine = <K extends string>(
  lexicon: Lexicon,
  things: Tally,
  kindScore: (kind: K) => number,
  kinds: readonly K[],
  offersOf: (kind: K) => readonly string[],
): Candidate<K>[] => {
  const candidates: Candidate<K>[] = [];
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
    const rest = categories.find((category) => category.startsWith("other_")) ?? null;
    for (const kind of kinds) {
      const offers = offersOf(kind).filter((offer) => allowed.includes(offer));
      if (offers.length === 0) continue;
      const base = kindScore(kind);
      candidates.push({
        kind,
        domain,
        category: lent > 0 && whole >= LEAST_THING ? rest : null,
        score: base + saturate(whole, SATURATION) * THING,
        thing: whole,
      });
      for (const category of categories) {
        // A category named as a kind is that kind's own: dating/dating holds no friendships.
        if (allowed.includes(category) && !offers.includes(category)) continue;
        const own = things.get(`${domain}/${category}`)?.score ?? 0;
        if (own <= 0) continue;
        const thing = own + whole / 2;
        candidates.push({ kind, domain, category, score: base + saturate(thing, SATURATION) * THING, thing });
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
    kinds: readonly K[];
    priors: Readonly<Record<K, number>>;
    hints: KindHints<K>;
    offersOf: (kind: K) => readonly string[];
  },
): Classified<K> => {
  const things = weighThings(lexicon, tokens, hits, options.family);
  const kindTally = weighKinds(hits, options.family);
  const kindScore = (kind: K): number =>
    options.priors[kind] + saturate(kindTally.get(kind)?.score ?? 0, KIND_SATURATION) + (options.hints[kind] ?? 0);
  const candidates = combine(lexicon, things, kindScore, options.kinds, options.offersOf);
  const best = candidates[0];
  if (best === undefined || (best.thing <= 0 && best.score < LEAST_KIND))
    return { kind: null, domain: null, category: null };

  const rival = (differs: (candidate: Candidate<K>) => boolean): number =>
    candidates.find((candidate) => differs(candidate))?.score ?? 0;
  const category = best.category === null ? null : `${best.domain}/${best.category}`;
  const thingHit = (category === null ? undefined : things.get(category)?.best) ?? things.get(best.domain)?.best;
  const kindHit = kindTally.get(best.kind)?.best ?? thingHit;
  const domainHit = thingHit ?? kindHit;
  const known = best.thing >= LEAST_THING;
  const kindsOfDomain = lexicon.taxonomy.find((one) => one.domain === best.domain)?.kinds.length ?? 0;
  // A kind that only one domain has names the domain too: a job is in jobs_projects whatever the job is.
  const homes = lexicon.taxonomy.filter((one) =>
    options.offersOf(best.kind).some((offer) => one.kinds.includes(offer)),
  );
  const domainKnown = known || (homes.length === 1 && kindsOfDomain > 0 && kindTally.has(best.kind));
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
      thingHit === undefined || !known || best.category === null
        ? null
        : {
            value: best.category,
            confidence: certainty(
              best.score,
              rival((c) => c.domain !== best.domain || (c.category !== null && c.category !== best.category)),
            ),
            hit: thingHit,
          },
  };
};

/** Classifies an offer. */
export const classifyOffer = (
  lexicon: Lexicon,
  tokens: readonly Token[],
  hits: readonly Hit[],
  hints: KindHints<OfferKind> = {},
): Classified<OfferKind> =>
  decide(lexicon, tokens, hits, {
    family: "kind",
    kinds: Object.keys(OFFER_PRIORS) as OfferKind[],
    priors: OFFER_PRIORS,
    hints,
    offersOf: (kind) => [kind],
  });

/** Classifies an ask: domain and category are those under which a matching offer is filed. */
export const classifyAsk = (
  lexicon: Lexicon,
  tokens: readonly Token[],
  hits: readonly Hit[],
  hints: KindHints<AskKind> = {},
): Classified<AskKind> =>
  decide(lexicon, tokens, hits, {
    family: "ask_kind",
    kinds: Object.keys(ASK_PRIORS) as AskKind[],
    priors: ASK_PRIORS,
    hints,
    offersOf: (kind) => OFFERS_FOR[kind],
  });
