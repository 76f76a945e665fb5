import { createWriteStream } from "node:fs";
import { performance } from "node:perf_hooks";
import type { Body } from "../support/market.ts";

/**
 * The ledger: what every caller was told, kept outside the service. Each answer is also a line of a file, to which
 * lines are only appended.
 *
 *   text       an offer or an ask that a caller sent, recognised in the database by its mark
 *   violation  a broken promise
 */

/** Whether a text was made, was refused, or its caller does not know, because no answer arrived. */
type Verdict = "made" | "refused" | "unknown";

/** A text that a caller sent. Times are those of performance.now(). */
export type Text = {
  kind: "offer" | "ask";
  /** A word that no other text contains. */
  mark: string;
  household: string;
  token: string;
  sent: { text: string };
  key: string | null;
  begun: number;
  ended: number;
  verdict: Verdict;
  /** Of the answer that decided. */
  status: number | null;
  body: Body;
  /** The highest cap that an answer stated. */
  cap: number;
  /** The last word of the text that an acknowledged change wrote; null when it is unknown which change won. */
  revision: string | null;
};

/** A broken promise, and the time to which it belongs. */
type Violation = { rule: string; detail: string; at: number };

/** The ledger of a run. */
export type Ledger = {
  texts: Text[];
  violations: Violation[];
  /** How often each operation was answered with each status; "none" without an answer. */
  outcomes: Map<string, number>;
  note: (line: { caller: string; what: string; status: number | null; begun: number; request?: string }) => void;
  violate: (rule: string, detail: string, at?: number) => void;
  close: () => Promise<void>;
};

/** @param file to which the lines are appended */
export const openLedger = (file: string): Ledger => {
  const lines = createWriteStream(file, { flags: "a" });
  const texts: Text[] = [];
  const violations: Violation[] = [];
  const outcomes = new Map<string, number>();
  return {
    texts,
    violations,
    outcomes,
    note(line) {
      const outcome = `${line.what} ${line.status ?? "none"}`;
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      lines.write(`${JSON.stringify({ ...line, ended: performance.now() })}\n`);
    },
    violate(rule, detail, at = performance.now()) {
      violations.push({ rule, detail, at });
      lines.write(`${JSON.stringify({ violation: rule, detail, at })}\n`);
    },
    close: () => new Promise((resolve) => lines.end(resolve)),
  };
};
