import { type Change, type Changed, changed } from "./changes.ts";

/**
 * Writes the letters, digits and signs of addresses and numbers as they are usually written: full-width and other
 * compatibility forms, HTML entities, emoji digits, signs in brackets, invisible characters. People write so because of
 * their keyboard, or so that software does not find them.
 */

/** Forms of printable ASCII: full-width and small ones, and letters and digits of formulas, in circles and in brackets. */
const FORMS = /[\uff01-\uff5e\ufe50-\ufe6b\u2460-\u24ff\u{1d400}-\u{1d7ff}\u{1f130}-\u{1f169}]/gu;
const FULL_STOPS = /(?<=[A-Za-z0-9])[。｡](?=[A-Za-z0-9])/gu;
const KEYCAPS = /([0-9])\ufe0f?\u20e3/gu;
const INVISIBLE = /[\u00ad\u200b-\u200d\u2060\ufeff]/gu;

/** Entities of characters that addresses and numbers have. */
const NAMED: ReadonlyMap<string, string> = new Map(
  Object.entries({ commat: "@", period: ".", lowbar: "_", hyphen: "-", dash: "-", plus: "+", sol: "/", nbsp: " " }),
);
const ENTITY = /&(?:#(\d{1,6})|#[xX]([0-9a-fA-F]{1,5})|([a-z]{3,6}));/gu;

/** "example[.com]", "jonas[@example.com]": the sign in a bracket together with what follows it. */
const BRACKETED = /(?<=[\p{L}\p{N}])[[({<]([@.])([\p{L}\p{N}.-]{2,63})[\])}>]/gu;

/** Marks of Markdown beside an address; an underscore at the end of a word. */
const MARKDOWN = /`|(?<=[\p{L}\p{N}])_{1,3}(?![\p{L}\p{N}_])/gu;

/** Characters without which a text needs no changes. */
const HAS_FORMS =
  /[`_&[({<\u00ad\u200b-\u200d\u2060\u2460-\u24ff\u3002\ufe50-\ufe6b\ufeff-\uff61]|\u20e3|[\ud835\ud83c]/;

const characterOf = (decimal?: string, hexadecimal?: string, name?: string): string | null => {
  if (name !== undefined) return NAMED.get(name) ?? null;
  const code = decimal === undefined ? Number.parseInt(hexadecimal ?? "", 16) : Number(decimal);
  return code >= 32 && code < 0xd800 ? String.fromCharCode(code) : null;
};

/** A text in usual signs; null if it is as it stands. In linear time. */
export const inPlainSigns = (text: string): Changed | null => {
  if (!HAS_FORMS.test(text)) return null;
  const changes: Change[] = [];
  const replace = (pattern: RegExp, by: (...found: string[]) => string | null): void => {
    for (const match of text.matchAll(pattern)) {
      const plain = by(...match);
      if (plain !== null) changes.push({ at: match.index, length: match[0].length, by: plain });
    }
  };
  replace(FORMS, (form) => {
    const plain = form.normalize("NFKC");
    return /^[!-~]$/u.test(plain) ? plain : null;
  });
  replace(FULL_STOPS, () => ".");
  replace(KEYCAPS, (_, digit = "") => digit);
  replace(INVISIBLE, () => "");
  replace(ENTITY, (_, decimal, hexadecimal, name) => characterOf(decimal, hexadecimal, name));
  replace(BRACKETED, (_, sign = "", rest = "") => sign + rest);
  replace(MARKDOWN, () => " ");
  return changed(text, changes);
};
