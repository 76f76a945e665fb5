/** Dates as people read them, in UTC: the server does not know where a person is, and the page says so. */

/** A moment for a `<time>` element: as machines and as people read it. */
export type Time = { datetime: string; text: string };

const format = (options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat =>
  new Intl.DateTimeFormat("en-GB", { timeZone: "UTC", ...options });

const DAY = format({ day: "numeric", month: "long", year: "numeric" });
const MONTH = format({ month: "long", year: "numeric" });
const MOMENT = format({ day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", hourCycle: "h23" });

/** "3 March 2026", of an RFC 3339 timestamp. */
export const dayOf = (timestamp: string): Time => ({
  datetime: timestamp.slice(0, 10),
  text: DAY.format(new Date(timestamp)),
});

/** "March 2026", of a timestamp or a month YYYY-MM. */
export const monthOf = (timestamp: string): Time => {
  const month = timestamp.slice(0, 7);
  return { datetime: month, text: MONTH.format(new Date(`${month}-01T00:00:00Z`)) };
};

/** "3 Mar, 14:03", of a timestamp in UTC. */
export const momentOf = (timestamp: string): Time => ({
  datetime: timestamp,
  text: MOMENT.format(new Date(timestamp)),
});
