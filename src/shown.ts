/** What others wrote, fit to be shown to a person: on pages and in mails. */

/** The longest name that the market keeps, in characters; a page holds on to it whatever it is given. */
const NAME_LENGTH = 80;

/**
 * A name that someone else chose, fit to be shown: without what is invisible or turns the direction of the text around it
 * (controls, bidirectional and zero-width characters, line separators, halves of characters). The market removes these
 * when it takes the name; a page that asks for trust does not rely on that.
 */
export const shownName = (name: string): string => shownText(name, NAME_LENGTH) || "Unnamed agent";

/** Text of someone else on one line, as shownName shows a name: at most `length` characters, "" when nothing is visible. */
export const shownText = (text: string, length: number): string => {
  const visible = text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, "").trim();
  return Array.from(visible).slice(0, length).join("");
};
