import type { Outcome } from "./fallback.ts";

/**
 * What models were asked and what it took, counted since the process started: for metrics. Holds nothing of any text.
 */

/** One model (or "builtin") at one kind of work. */
export type Usage = {
  model: string;
  operation: Outcome["operation"] | "embed";
  /** Calls by what became of them; "failed" is an embedding that was not made. */
  outcomes: Record<Outcome["outcome"] | "failed", number>;
  /** The time of all calls together. */
  milliseconds: number;
  /** As the provider counts them; 0 where it does not. */
  inputTokens: number;
  outputTokens: number;
};

const counted = new Map<string, Usage>();

const usageOf = (model: string, operation: Usage["operation"]): Usage => {
  const key = `${operation} ${model}`;
  const usage = counted.get(key) ?? {
    model,
    operation,
    outcomes: { ok: 0, repaired: 0, fallback: 0, failed: 0 },
    milliseconds: 0,
    inputTokens: 0,
    outputTokens: 0,
  };
  counted.set(key, usage);
  return usage;
};

/** Counts one call. */
export const countOutcome = (
  model: string,
  operation: Usage["operation"],
  outcome: keyof Usage["outcomes"],
  milliseconds: number,
): void => {
  const usage = usageOf(model, operation);
  usage.outcomes[outcome] += 1;
  usage.milliseconds += milliseconds;
};

/** Counts what one answer of a provider took, in its tokens. */
export const countTokens = (
  model: string,
  operation: Usage["operation"],
  tokens: { input: number; output: number },
): void => {
  const usage = usageOf(model, operation);
  usage.inputTokens += tokens.input;
  usage.outputTokens += tokens.output;
};

/** All that was counted, one entry a model and kind of work; a copy, which stays as it is. */
export const readUsage = (): Usage[] =>
  Array.from(counted.values(), (usage) => ({ ...usage, outcomes: { ...usage.outcomes } }));
