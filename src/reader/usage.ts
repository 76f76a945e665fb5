/**
 * Counts the calls to models, their duration and their tokens since the process started, for metrics. It keeps
 * nothing of the texts.
 */

/** The outcome of one extraction, for logs and metrics. Contains nothing of the text. */
export type Outcome = {
  /** The extractor that was asked first. */
  model: string;
  operation: "read_offer" | "read_ask";
  /**
   * "ok": the first answer was valid. "repaired": the second was. "fallback": only the built-in extractor read the text,
   * for the reason in `error`.
   */
  outcome: "ok" | "repaired" | "fallback";
  milliseconds: number;
  /** The error message of the first extractor. */
  error?: string;
};

/** The counts for one model (or "builtin") and one operation. */
export type Usage = {
  model: string;
  operation: Outcome["operation"] | "embed";
  /** Number of calls by outcome. "failed" is an embedding that was not made. */
  outcomes: Record<Outcome["outcome"] | "failed", number>;
  /** Total time of all calls. */
  milliseconds: number;
  /** The tokens that the provider reported; 0 if it reports none. */
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

/** Counts the tokens of one answer, as the provider reports them. */
export const countTokens = (
  model: string,
  operation: Usage["operation"],
  tokens: { input: number; output: number },
): void => {
  const usage = usageOf(model, operation);
  usage.inputTokens += tokens.input;
  usage.outputTokens += tokens.output;
};

/** Returns a copy of all counts, one entry for each model and operation. */
export const readUsage = (): Usage[] =>
  Array.from(counted.values(), (usage) => ({ ...usage, outcomes: { ...usage.outcomes } }));
