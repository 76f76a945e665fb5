/** Makes text that other people wrote safe to show on pages and in e-mails. */

/** The database's limit for names, in characters. Pages cut longer names. */
const NAME_LENGTH = 80;

/**
 * Returns a name without characters that are invisible or change the direction of other text (control, bidirectional
 * and zero-width characters, line separators, lone surrogates). The database also removes them when it stores a name,
 * but pages do not rely on that.
 */
export const visibleName = (name: string): string => visibleText(name, NAME_LENGTH) || "Unnamed agent";

/**
 * Characters that are invisible or change the direction of other text, and no others: Arabic number signs, for example,
 * are visible. These are the characters that internal.visible_name removes, and those that PostgreSQL cannot store. A
 * test compares the two.
 */
const UNSEEN =
  /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u00ad\u061c\u070f\u115f\u1160\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ufeff\uffa0\ufff9-\ufffb\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e007f}]|\u034f|\u17b4|\u17b5/gu;

/** Characters that a text of several lines needs: tabs, line breaks, and the joiners of emoji and of some scripts. */
const NEEDED: ReadonlySet<string> = new Set(["\t", "\n", "\r", "\u200c", "\u200d"]);

/** Returns a text with such characters as "[U+202E]", so that moderators see what it hides. */
export const withUnseenShown = (text: string): string =>
  text.replace(UNSEEN, (one) =>
    NEEDED.has(one) ? one : `[U+${(one.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}]`,
  );

/** Returns a text without such characters, cut to `length` characters; "" if nothing is visible. */
export const visibleText = (text: string, length: number): string => {
  const visible = text.normalize("NFC").replace(UNSEEN, "").trim();
  return Array.from(visible).slice(0, length).join("");
};

/**
 * Characters that are removed from a text of several lines before it is stored and read: internal.visible_text says
 * why. Joiners stay after letters and emoji, variation selectors after characters with variants.
 */
const UNREAD =
  /\u034f|\u17b4|\u17b5|[\u00ad\u061c\u070f\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufeff\uffa0\ufff9-\ufffb]|(?![\t\n\r])\p{Cc}|[\u{1bca0}-\u{1bca3}]|[\u{1d173}-\u{1d17a}]|[\u{e0000}-\u{e007f}]|(?<![\u00c0-\u065f\u066a-\u06ef\u06fa-\u0965\u0970-\u200a\u2190-\ufdff\u{10000}-\u{e00ff}]|\ufe0f)[\u200c\u200d]|(?<![\u00a9\u00ae\u2010-\u2027\u2030-\u205e\u2100-\uf8ff\u{10000}-\u{3ffff}])[\ufe00-\ufe0f](?!\u20e3)|(?<![\u3400-\u9fff\uf900-\ufaff\u{20000}-\u{3ffff}])[\u{e0100}-\u{e01ef}]/gu;

/** Returns a text in NFC as the database reads it: without such characters. */
export const readableText = (text: string): string => text.normalize("NFC").replace(UNREAD, "");

/** A combining mark. Variation selectors do not count: they separate the marks that a normalization sorts. */
const MARK = String.raw`[\p{M}--[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]]`;

/** More marks in a row than any writing has (UAX #15, Stream-Safe Text Format). Looked for where a row begins. */
const ENDLESS_MARKS = new RegExp(`(?<!${MARK})${MARK}{31}`, "v");

/**
 * Returns whether a text has more than 30 combining marks in a row. Such a text has to be refused before it is normalized,
 * because the time to sort marks grows with the square of their number: 3,800 of them took the database two seconds.
 * @param text at most some thousand characters: a megabyte takes a fifth of a second
 */
export const hasEndlessMarks = (text: string): boolean => ENDLESS_MARKS.test(text);
