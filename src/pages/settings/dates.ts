/** Dates for people, in UTC, because the server does not know the person's time zone. The pages say so. */

/** A moment for a `<time>` element: its machine-readable value, and its text. */
export type Time = { datetime: string; text: string };

const format = (options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat =>
  new Intl.DateTimeFormat("en-GB", { timeZone: "UTC", ...options });

const DAY = format({ day: "numeric", month: "long", year: "numeric" });
const MONTH = format({ month: "long", year: "numeric" });
const MOMENT = format({ day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", hourCycle: "h23" });

/** The day of an RFC 3339 timestamp: "3 March 2026". */
export const dayOf = (timestamp: string): Time => ({
  datetime: timestamp.slice(0, 10),
  text: DAY.format(new Date(timestamp)),
});

/** The month of an RFC 3339 timestamp or of YYYY-MM: "March 2026". */
export const monthOf = (timestamp: string): Time => {
  const month = timestamp.slice(0, 7);
  return { datetime: month, text: MONTH.format(new Date(`${month}-01T00:00:00Z`)) };
};

/** Day and time of an RFC 3339 timestamp: "3 Mar, 14:03". */
export const momentOf = (timestamp: string): Time => ({
  datetime: timestamp,
  text: MOMENT.format(new Date(timestamp)),
});
