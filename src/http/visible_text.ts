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

/** Returns a text without such characters, cut to `length` characters; "" if nothing is visible. */
export const visibleText = (text: string, length: number): string => {
  const visible = text.normalize("NFC").replace(UNSEEN, "").trim();
  return Array.from(visible).slice(0, length).join("");
};
