/** What an agent may do alone, as a person reads and sets it on the approval page and in the settings. */

/** A power, as api.get_powers returns it and api.set_powers takes it. */
export type Power = {
  power: string;
  allowed: string;
  ceiling?: { amount: number | null; amount_24h: number | null; currency: string };
};

/** What is allowed or not. */
const TICKS = ["publish", "ask", "converse"] as const;

const numberOf = (typed: string | null): number | null => (typed?.trim() ? Number(typed) : null);

/** Reads the powers from a form; none if the form did not have them. */
export const powersIn = (fields: URLSearchParams): Power[] => {
  if (!fields.has("powers")) return [];
  const ceiling = {
    amount: numberOf(fields.get("amount")),
    amount_24h: numberOf(fields.get("amount_24h")),
    currency: (fields.get("currency") ?? "").trim().toUpperCase(),
  };
  const agree = fields.get("agree") ?? "";
  return [
    ...TICKS.map((power) => ({ power, allowed: fields.get(power) === "alone" ? "alone" : "never" })),
    { power: "agree", allowed: agree, ...(agree === "alone" ? { ceiling } : {}) },
  ];
};

/** What an agent may do if its person decides nothing (internal.power_of). */
const USUAL: readonly Power[] = [
  ...TICKS.map((power) => ({ power, allowed: "alone" })),
  { power: "agree", allowed: "ask_me" },
];

/**
 * What the form of powers shows: what was typed, else what counts.
 * @param wrong what is wrong with the ceiling that was typed
 */
export const shownPowers = (
  fields: URLSearchParams | null,
  stored: readonly Power[] = USUAL,
  wrong: string | null = null,
) => {
  const typed = fields?.has("powers") ? fields : null;
  const powers = typed === null ? stored : powersIn(typed);
  const allowed = (name: string) => powers.find(({ power }) => power === name)?.allowed;
  const ceiling = powers.find(({ power }) => power === "agree")?.ceiling;
  return {
    publish: allowed("publish") === "alone",
    ask: allowed("ask") === "alone",
    converse: allowed("converse") === "alone",
    agree: allowed("agree"),
    amount: typed?.get("amount") ?? ceiling?.amount ?? "",
    amountOfDay: typed?.get("amount_24h") ?? ceiling?.amount_24h ?? "",
    currency: typed?.get("currency") ?? ceiling?.currency ?? "",
    wrong,
  };
};
