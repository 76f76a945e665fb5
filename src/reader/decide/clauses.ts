import type { Token } from "../text/tokens.ts";
import type { Scene } from "./context.ts";

/** Splits a text into clauses and sentences, so that a word is judged with what stands in its own clause. */

/** For each token, the number of its clause and of its sentence. */
export type Clauses = { clause: Int32Array; sentence: Int32Array };

/** Marks that end a clause. */
const ENDS = /^[,;:()[\]/+&|>•、。「」『』【】《》・]$/u;

/** Concepts of words that begin a contrasting clause. */
const CONTRAST: ReadonlySet<string> = new Set(["prefer_turn", "contact_yet"]);

const isDash = (tokens: readonly Token[], at: number): boolean =>
  tokens[at]?.text === "-" && tokens[at]?.gap !== "none" && tokens[at + 1]?.gap !== "none";

/**
 * The clauses and sentences of a text.
 * @param isInside 1 for tokens of addresses and numbers, whose marks end nothing
 */
export const clausesOf = ({ tokens, cues }: Scene, isInside: Uint8Array): Clauses => {
  const contrasts = new Uint8Array(tokens.length);
  for (const cue of cues) if (CONTRAST.has(cue.concept.text)) contrasts[cue.from] = 1;
  const clause = new Int32Array(tokens.length);
  const sentence = new Int32Array(tokens.length);
  let clauses = 0;
  let sentences = 0;
  // "Do not call: 0171 234567": the colon leads to the contact.
  const leads = (at: number): boolean => tokens[at]?.text === ":" && isInside[at + 1] === 1;
  const endsAt = (at: number): boolean => (ENDS.test(tokens[at]?.text ?? "") && !leads(at)) || isDash(tokens, at);
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at];
    if (token === undefined) break;
    if (at > 0 && isInside[at] === 0) {
      if (token.opens) {
        sentences++;
        clauses++;
      } else if ((token.kind === "mark" && endsAt(at)) || contrasts[at] === 1) clauses++;
    } else if (at > 0 && token.opens && isInside[at - 1] === 0) {
      sentences++;
      clauses++;
    }
    clause[at] = clauses;
    sentence[at] = sentences;
  }
  return { clause, sentence };
};
