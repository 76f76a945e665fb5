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

/** What a work is filed under by who does it and by who wants it done: the same words name both. */
const COUNTERPARTS: readonly (readonly [string, string])[] = [
  ["services/construction", "jobs_projects/construction_work"],
  ["services/repair", "jobs_projects/construction_work"],
  ["services/tutoring", "jobs_projects/education"],
  ["services/it_design", "jobs_projects/software"],
  ["services/it_design", "jobs_projects/design"],
  ["services/it_design", "jobs_projects/marketing"],
  ["services/moving", "jobs_projects/logistics"],
  ["services/transport", "jobs_projects/logistics"],
  ["services/events", "jobs_projects/hospitality"],
  ["services/legal_finance", "jobs_projects/office"],
  ["services/cleaning", "jobs_projects/other_work"],
  ["services/care", "jobs_projects/other_work"],
  ["services/beauty_wellness", "jobs_projects/other_work"],
];
const COUNTERPART_OF: ReadonlyMap<string, readonly string[]> = (() => {
  const map = new Map<string, string[]>();
  for (const [one, other] of COUNTERPARTS) {
    map.set(one, [...(map.get(one) ?? []), other]);
    map.set(other, [...(map.get(other) ?? []), one]);
  }
  return map;
})();

/** Under which work it is filed what is done to a thing, where the work itself has no name: who cares for a cat. */
const DONE_TO: readonly (readonly [string, readonly string[]])[] = [
  ["services/care", ["family_pets/pets", "family_pets/baby_kids"]],
  [
    "services/repair",
    [
      "fashion/clothing",
      "fashion/shoes",
      "fashion/bags",
      "fashion/jewelry_watches",
      "fashion/accessories",
      "hobbies/music_instruments",
      "hobbies/sports",
      "home_garden/furniture",
      "home_garden/appliances",
      "home_garden/tools",
      "electronics/phones",
      "electronics/computers",
      "electronics/audio",
      "electronics/tv",
      "vehicles/bicycles",
      "vehicles/cars",
      "vehicles/motorcycles",
      "vehicles/boats",
    ],
  ],
  [
    "services/construction",
    ["home_garden/garden", "home_garden/other_home", "home_garden/kitchen", "home_garden/decor"],
  ],
  ["services/moving", ["vehicles/trucks_vans"]],
  ["jobs_projects/construction_work", ["home_garden/garden", "home_garden/other_home", "home_garden/kitchen"]],
  ["jobs_projects/construction_work", ["real_estate/houses", "real_estate/apartments"]],
  ["services/construction", ["real_estate/houses", "real_estate/apartments"]],
];

/** What the counterpart's words count: enough to tell one work from another, not enough to outdo its own. */
const LENT_CATEGORY = 0.45;

/** How much of what speaks for a work done speaks for the same work wanted, and the other way round. */
const LENT = 0.85;

const PASTIME = "friendship";
const ACTIVITY = "activities";
const PASTIMES = ["hobbies/sports", "hobbies/toys_games", "hobbies/music_instruments", "hobbies/other_hobbies"];
const LENT_PASTIME = 0.5;

/** Evidence for a work that words of the thing do not outweigh, and how much of theirs counts for it. */
const SURE_WORK = 2.4;
const SURE_JOB = 4.5;
const SURE_DOER = 4;
const LENT_GOODS = 0.75;

/** Evidence for what a work is done to. */
const objectOf = (things: Tally, work: string): number =>
  Math.max(
    0,
    ...DONE_TO.filter(([one]) => one === work).flatMap(([, objects]) =>
      objects.map((one) => things.get(one)?.score ?? 0),
    ),
  );

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
      const done = isWork(allowed) && kindEvidence(kind) > 0 ? goods * LENT_GOODS : 0;
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
        const path = `${domain}/${category}`;
        const counterpart = Math.max(0, ...(COUNTERPART_OF.get(path) ?? []).map((one) => things.get(one)?.score ?? 0));
        const object = done > 0 ? objectOf(things, path) : 0;
        const own = Math.max(
          things.get(path)?.score ?? 0,
          activity,
          counterpart * LENT_CATEGORY,
          object * LENT_CATEGORY,
        );
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
    /** The category of who meets friends and does not say for what. */
    company: string;
    /** Kinds of who does a work. */
    doer: ReadonlySet<K>;
    /** Evidence for a kind from which what is named may be what a work is done to. */
    sureWork: number;
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
    // Who does a work names it; who wants it done often names the thing alone.
    (kind) => {
      const evidence = kindTally.get(kind)?.score ?? 0;
      return evidence < (options.doer.has(kind) ? SURE_DOER : options.sureWork) ? 0 : evidence;
    },
  );
  const best = candidates[0];
  if (best === undefined || (best.thing <= 0 && best.score < LEAST_KIND))
    return { kind: null, domain: null, category: null };

  const rival = (differs: (candidate: Candidate<K>) => boolean): number =>
    candidates.find((candidate) => differs(candidate))?.score ?? 0;
  // Who meets whom is told by the kind alone: an offer gathers a group, an ask looks for company.
  const meeting =
    best.category === null && lexicon.taxonomy.some((one) => one.domain === best.domain && one.kinds.includes(PASTIME));
  const company = meeting ? (best.kind === PASTIME ? options.company : best.kind) : null;
  const category = best.category === null ? null : `${best.domain}/${best.category}`;
  const lenders = category === null ? [] : (COUNTERPART_OF.get(category) ?? []);
  const thingHit =
    (category === null ? undefined : things.get(category)?.best) ??
    things.get(best.domain)?.best ??
    lenders.map((one) => things.get(one)?.best).find((hit) => hit !== undefined) ??
    DONE_TO.filter(([one]) => one === category)
      .flatMap(([, objects]) => objects.map((one) => things.get(one)))
      .toSorted((a, b) => (b?.score ?? 0) - (a?.score ?? 0))[0]?.best;
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
      domainHit === undefined || (company === null ? !known || best.category === null : !domainKnown)
        ? null
        : {
            value: best.category ?? company ?? "",
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
    company: ACTIVITY,
    doer: new Set<OfferKind>(["service_offer"]),
    sureWork: SURE_JOB,
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
    company: PASTIME,
    doer: new Set<AskKind>(["offer_service"]),
    sureWork: SURE_WORK,
    kinds: Object.keys(ASK_PRIORS) as AskKind[],
    priors: ASK_PRIORS,
    hints,
    offersOf: (kind) => OFFERS_FOR[kind],
    affinity,
  });
