import type { Amount } from "./price_amounts.ts";
import { BOUNDS, PERIOD_OF_UNIT, type Period, PRICE_WORDS, type PriceSense, RATES } from "./price_words.ts";
import { findPhrases, type Hit } from "../text/phrases.ts";
import { startsSentence, type Token } from "../text/tokens.ts";
import { spokenNumberAt } from "../find/spoken_numbers.ts";

/**
 * Assigns words about prices to amounts. Each word belongs to the nearest amount before or after it in the same clause,
 * so that "deposit" in "780 EUR, deposit 300 EUR" is assigned to one amount only.
 */

/** An amount with the senses of its words. `near` holds the senses of the words directly beside it. */
export type Role = {
  amount: Amount;
  senses: Set<PriceSense>;
  near: Set<PriceSense>;
  bounds: Set<"limit" | "from">;
  period: Period | null;
};

/** How far before its amount a word may stand, in tokens. REACH_AHEAD is for senses that are not listed. */
const REACH_AHEAD = 7;
const AHEAD: Partial<Record<PriceSense, number>> = {
  fresh: 2,
  toward: 0,
  today: 1,
  extra: 2,
  each: 1,
  half: 2,
  flat: 2,
  packet: 5,
  negotiable: 1,
  discount: 3,
  with: 1,
  part: 2,
  restated: 1,
};

/** How far after its amount a word may stand, in tokens; -1 means never. */
const REACH_BACK = 3;
const BACK: Partial<Record<PriceSense, number>> = {
  ask: 0,
  toward: -1,
  today: -1,
  instead: -1,
  value: 1,
  former: 1,
  negotiable: 3,
  half: 2,
  with: -1,
  running: 2,
  fresh: 1,
  part: 1,
  restated: -1,
};

const isClauseEnd = (tokens: readonly Token[], at: number): boolean =>
  startsSentence(tokens, at) ||
  /^[,;|•·)]$/u.test(tokens[at - 1]?.text ?? "") ||
  /^[,;|•·]$/u.test(tokens[at]?.text ?? "");

/** True if nothing between two positions ends the clause. A dash ends it, except directly after the word. */
const isOneClause = (tokens: readonly Token[], from: number, to: number): boolean => {
  for (let at = from; at < to; at++) {
    if (isClauseEnd(tokens, at)) return false;
    const dash = tokens[at]?.text === "-" && tokens[at]?.gap !== "none" && tokens[at + 1]?.gap !== "none";
    if (dash && at > from) return false;
  }
  return !isClauseEnd(tokens, to);
};

type Reach = { ahead: number; back: number };

/**
 * An index of the amounts around each token, so that a word finds its amount in constant time. `behind` and `ahead`
 * hold the index of the amount before and after a token, or -1. `joins` marks connectives.
 */
type Neighbours = {
  tokens: readonly Token[];
  amounts: readonly Amount[];
  behind: Int32Array;
  ahead: Int32Array;
  joins: Uint8Array;
};

const neighboursOf = (
  tokens: readonly Token[],
  amounts: readonly Amount[],
  connectives: readonly Hit<unknown>[],
): Neighbours => {
  const behind = new Int32Array(tokens.length + 1).fill(-1);
  const ahead = new Int32Array(tokens.length + 1).fill(-1);
  amounts.forEach((amount, index) => {
    behind.fill(index, amount.to, amounts[index + 1]?.to ?? tokens.length + 1);
    ahead.fill(index, (amounts[index - 1]?.from ?? -1) + 1, amount.from + 1);
  });
  const joins = new Uint8Array(tokens.length);
  for (const hit of connectives) joins.fill(1, hit.from, hit.to);
  return { tokens, amounts, behind, ahead, joins };
};

/** The amount that the words of `hit` belong to. Null if none is near. */
const amountOf = <S>(hit: Hit<S>, map: Neighbours, reach: Reach): { amount: Amount; distance: number } | null => {
  const { tokens, amounts } = map;
  const behind = amounts[map.behind[hit.from] ?? -1];
  const ahead = amounts[map.ahead[hit.to] ?? -1];
  const gapAhead = ahead === undefined ? Number.POSITIVE_INFINITY : ahead.from - hit.to;
  const gapBehind = behind === undefined ? Number.POSITIVE_INFINITY : hit.from - behind.to;
  const isAhead = ahead !== undefined && gapAhead <= reach.ahead && isOneClause(tokens, hit.to, ahead.from);
  const isBehind =
    behind !== undefined &&
    gapBehind <= reach.back &&
    isOneClause(tokens, behind.to, hit.from) &&
    !map.joins.subarray(behind.to, hit.from).includes(1);
  if (isAhead && (!isBehind || gapAhead <= gapBehind)) return { amount: ahead, distance: gapAhead };
  return isBehind ? { amount: behind, distance: gapBehind } : null;
};

/** True if a number stands directly before token `at`: "12.000 km", "167tkm". */
const isCounted = (tokens: readonly Token[], at: number): boolean =>
  tokens[at - 1]?.kind === "digits" || /^(?:k|tsd|tys|mila|mil|t)$/u.test(tokens[at - 1]?.text ?? "");

/** Words between a former price and a lower one: "from 350 to 200". */
const LOWERED = new Set("to auf a para naar na voor now jetzt nu > -> ahora agora ora teraz".split(" "));

/** The higher amount in "from 350 to 200" or "350 > 200" is the former price. */
const markLowered = (tokens: readonly Token[], roles: readonly Role[]): void => {
  roles.forEach((role, index) => {
    const next = roles[index + 1];
    if (next === undefined || next.amount.value >= role.amount.value || startsSentence(tokens, next.amount.from))
      return;
    const between = tokens
      .slice(role.amount.to, next.amount.from)
      .filter(({ kind, text }) => kind === "word" || text === ">");
    const last = between.at(-1);
    if (last !== undefined && between.length <= 1 && LOWERED.has(last.text)) role.senses.add("former");
  });
};

/** The roles of all amounts, in the same order. */
export const rolesOf = (tokens: readonly Token[], amounts: readonly Amount[]): Role[] => {
  const roles = amounts.map((amount): Role => {
    // In "One thirty a month ($130)" the period stands before the bracket.
    const told = amount.period === null && isRestatement(amount, tokens) ? tokens[amount.from - 2]?.text : undefined;
    const period = amount.period ?? PERIOD_OF_UNIT.get(told ?? "") ?? null;
    return { amount, senses: new Set(), near: new Set(), bounds: new Set(), period };
  });
  const roleOf = new Map(roles.map((role) => [role.amount, role]));
  const hits = findPhrases(tokens, PRICE_WORDS);
  const neighbours = neighboursOf(
    tokens,
    amounts,
    hits.filter((hit) => hit.sense === "with"),
  );
  for (const hit of hits) {
    const reach = { ahead: AHEAD[hit.sense] ?? REACH_AHEAD, back: BACK[hit.sense] ?? REACH_BACK };
    const found = amountOf(hit, neighbours, reach);
    const role = found && roleOf.get(found.amount);
    if (!found || !role) continue;
    // "new tyres 40" in a list is the price of a part; "New sofa 40" is the price of the thing itself.
    if (hit.sense === "fresh" && found.amount.from > hit.to) {
      if (tokens[hit.from - 1]?.text === "," && !startsSentence(tokens, hit.from)) role.senses.add("part");
      continue;
    }
    role.senses.add(hit.sense);
    if (found.distance <= 1) role.near.add(hit.sense);
  }
  for (const hit of findPhrases(tokens, BOUNDS)) {
    const back = hit.sense === "limit" ? 4 : 1;
    const found = amountOf(hit, neighbours, { ahead: 3, back });
    if (found !== null) roleOf.get(found.amount)?.bounds.add(hit.sense);
  }
  for (const hit of findPhrases(tokens, RATES)) {
    // "km" is a distance in "12.000 km 3.200 €", and a rent (Kaltmiete) in "KM 640".
    if (tokens[hit.from]?.text === "km" && isCounted(tokens, hit.from)) continue;
    const found = amountOf(hit, neighbours, { ahead: 4, back: 0 });
    const role = found && roleOf.get(found.amount);
    if (role) role.period ??= hit.sense;
  }
  markLowered(tokens, roles);
  return roles;
};

/** Words that end an amount in words before a bracket: "sixty bucks ($60)", "a fiver each (£5)". */
const SPOKEN_END = new Set(
  `each apiece bucks quid dollars pounds euros euro month week day hour night person stowek zl zlotych ciascuno l'uno stuk
  monat woche tag stunde mois semaine jour heure mes semana dia hora mese settimana giorno ora maand week dag uur`.split(
    /\s+/u,
  ),
);
/** Smaller numbers in words are counts. */
const LEAST_TOLD = 5;

/** True if brackets hold nothing but an amount in digits that repeats an amount in words before them. */
export const isRestatement = ({ from, to }: Amount, tokens: readonly Token[]): boolean => {
  const opening = tokens[from - 1]?.text === "(" ? from - 1 : tokens[from]?.text === "(" ? from : -1;
  if (opening < 0 || tokens[to]?.text !== ")") return false;
  if (SPOKEN_END.has(tokens[opening - 1]?.text ?? "")) return true;
  for (let at = opening - 3; at < opening; at++) {
    const number = spokenNumberAt(tokens, at);
    if (number !== null && number.value >= LEAST_TOLD && number.to >= opening - 1) return true;
  }
  return false;
};
