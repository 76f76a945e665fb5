/** What others wrote, fit to be shown to a person: on pages and in mails. */

/** The longest name that the market keeps, in characters; a page holds on to it whatever it is given. */
const NAME_LENGTH = 80;

/**
 * A name that someone else chose, fit to be shown: without what is invisible or turns the direction of the text around it
 * (controls, bidirectional and zero-width characters, line separators, halves of characters). The market removes these
 * when it takes the name; a page that asks for trust does not rely on that, and other texts are shown by the same rule.
 */
export const visibleName = (name: string): string => visibleText(name, NAME_LENGTH) || "Unnamed agent";

/**
 * What cannot be seen, or turns the direction of what stands around it, and no more: signs of Arabic numbers and the like
 * can be seen. The same as internal.visible_name takes away, and what PostgreSQL cannot store; a test compares the two.
 */
const UNSEEN =
  /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u00ad\u061c\u070f\u115f\u1160\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ufeff\uffa0\ufff9-\ufffb\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e007f}]|\u034f|\u17b4|\u17b5/gu;

/** Text of someone else on one line, as visibleName shows a name: at most `length` characters, "" when nothing is visible. */
export const visibleText = (text: string, length: number): string => {
  const visible = text.normalize("NFC").replace(UNSEEN, "").trim();
  return Array.from(visible).slice(0, length).join("");
};
