/**
 * Dates and times of day that look like phone numbers: "03/2015 - 03/2016", "12.07.-26.07.2027", "09.00-17.30",
 * "2011-2015 2016-2019". Only whole runs of digits and marks are read, by a grammar of their forms.
 */

const DAY = "(?:0?[1-9]|[12]\\d|3[01])";
const MONTH = "(?:0?[1-9]|1[0-2])";
const YEAR = "(?:19|20)\\d\\d";
/** Americans write the month first. */
const DAY_MONTH = (mark: string): string => `(?:${DAY}${mark}${MONTH}|${MONTH}${mark}${DAY})`;

/** Dates with a year of four digits, which nothing else is. */
const WITH_YEAR = ["[.]", "/", "-"].flatMap((mark) => [
  `${DAY_MONTH(mark)}${mark}${YEAR}`,
  `${YEAR}${mark}${MONTH}(?:${mark}${DAY})?`,
  `${MONTH}${mark}${YEAR}`,
  // "1998/99": not two forms of "2011-12", because a list of them would take long.
  `${YEAR}${mark}(?:00|1[3-9]|[2-9]\\d)`,
]);
/** A range of days in one month: "12.-26.07.2027", "12/07-26/07/2027". */
const SHORT = [`${DAY}[.]?`, `${DAY_MONTH("[.]")}[.]?`, DAY_MONTH("/")];
const WITHOUT_YEAR = ["[.]", "/"].map((mark) => `${DAY_MONTH(mark)}${mark}\\d\\d`);
const TIME = "(?:[01]?\\d|2[0-4])[.][0-5][05]";
const HOURS = "(?:[01]\\d|2[0-4])(?:00|15|30|45)";

const BETWEEN = "(?: ?- ?|[ /]| / )";
const anyOf = (forms: readonly string[]): string => `(?:${forms.join("|")})`;
const listOf = (form: string, between: string): string => `${form}(?:${between}${form})*`;

const FORMS = [
  // Years and dates with years, alone or in lists, each perhaps the end of a range of days.
  listOf(`(?:${anyOf(SHORT)} ?- ?)?${anyOf([...WITH_YEAR, YEAR])}`, BETWEEN),
  // Dates with short years, at least two of them in a range or a list.
  listOf(anyOf(WITHOUT_YEAR), "(?: ?- ?| )"),
  // Days and months in a list or a range: "14/09 21/09", "12.07.-26.07.".
  `${DAY_MONTH("/")}(?:(?: ?- ?| )${DAY_MONTH("/")})+`,
  `${DAY_MONTH("[.]")}[.]?(?:(?: ?- ?| )${DAY_MONTH("[.]")}[.]?)+`,
  // Opening hours.
  `${TIME} ?- ?${TIME}(?: ${TIME} ?- ?${TIME})*`,
  `${HOURS} ?- ?${HOURS}(?:[ /]${HOURS} ?- ?${HOURS})*`,
];
const DATES = new RegExp(`^(?:${FORMS.join("|")})[.]?$`, "u");

/** A longer run of digits and marks is no list of dates that somebody might take for a number. */
const LONGEST = 100;

/** True if digits and marks, with single spaces and plain hyphens, are nothing but dates or times of day. */
export const areDates = (written: string): boolean => written.length <= LONGEST && DATES.test(written);
