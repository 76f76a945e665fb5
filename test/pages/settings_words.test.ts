import test from "ava";
import { byMonth, type Event, sentenceOf } from "../../src/pages/settings/activity.ts";
import { whatItDid } from "../../src/pages/settings/agents.ts";
import { dayOf, momentOf, monthOf } from "../../src/pages/settings/dates.ts";
import { shownPhone, toE164 } from "../../src/pages/settings/profile.ts";

/** Tests how the settings turn plain data into text. */

test("dates are shown in UTC, whatever the time zone of the server", (t) => {
  t.deepEqual(dayOf("2026-03-31T23:59:59.000Z"), { datetime: "2026-03-31", text: "31 March 2026" });
  t.deepEqual(monthOf("2026-03-31T23:59:59.000Z"), { datetime: "2026-03", text: "March 2026" });
  t.deepEqual(monthOf("2026-12"), { datetime: "2026-12", text: "December 2026" });
  t.deepEqual(momentOf("2026-03-01T00:05:00.000Z"), { datetime: "2026-03-01T00:05:00.000Z", text: "1 Mar, 00:05" });
});

test("the number of an agent's offers and asks is shown in words", (t) => {
  t.is(whatItDid({ offers: 0, asks: 0 }), null);
  t.is(whatItDid({ offers: 1, asks: 0 }), "1 offer");
  t.is(whatItDid({ offers: 2, asks: 1 }), "2 offers, 1 ask");
});

test("a phone number is stored in E.164, and refused if it cannot be dialled", (t) => {
  for (const written of ["+49 30 123456", "0049 30 123456", "+49 (0)30 / 123456", "+49-30-123456"]) {
    t.is(toE164(written), "+4930123456", written);
  }
  for (const written of [
    "030 123456",
    "12",
    "+49",
    "call me",
    "+49 30 123456 ext. 4",
    "+1 555",
    "+4930123456; drop",
    "javascript:",
  ]) {
    t.is(toE164(written), null, written);
  }
  t.is(shownPhone("+4930123456"), "+49 30 123456");
});

const EVENT: Event = {
  at: "2026-03-04T14:03:00.000Z",
  action: "offer.published",
  agent: { id: "a", name: "Claude" },
  target: { type: "offer", id: "o", title: "Sofa" },
};

const said = (event: Partial<Event>): string => {
  const { who, other, agent, before, name, after } = sentenceOf({ ...EVENT, ...event });
  const actor = who === "agent" ? `Your agent “${agent}”` : who === "you" ? "You" : other;
  return `${actor} ${before}${name === null ? "" : ` “${name}”`}${after}.`;
};

test("each event is shown as a sentence", (t) => {
  const own = { agent: null };
  const judged = { agent: null, by: "moderator" } as const;
  const named = (type: string, id: string, title: string | null) => ({ target: { type, id, title } });
  const claude = named("agent", "a", "Claude");
  for (const [action, more, sentence] of [
    ["offer.published", {}, "Your agent “Claude” published “Sofa”."],
    ["offer.published", named("offer", "o", null), "Your agent “Claude” published an offer."],
    ["offer.archived", own, "You archived “Sofa”."],
    ["offer.removed", own, "A moderator took down “Sofa”."],
    ["offer.pending_review", {}, "Your agent “Claude” handed in “Sofa”; a moderator looks at it first."],
    ["offer_change.created", {}, "Your agent “Claude” changed “Sofa”; a moderator looks at it first."],
    ["offer.change_published", judged, "A moderator published the change of “Sofa”."],
    ["offer_change.rejected", judged, "A moderator did not accept the change of “Sofa”."],
    ["ask.created", named("ask", "k", "A bike"), "Your agent “Claude” asked for “A bike”."],
    ["agent.created", { ...own, ...claude }, "Your agent “Claude” asked to act for you."],
    ["agent.connected", { ...own, ...claude }, "You approved the agent “Claude”."],
    ["agent.removed", { ...own, ...claude }, "You removed the agent “Claude”."],
    ["agent.removed", claude, "Your agent “Claude” removed itself."],
    ["method.proved", { ...own, ...named("method", "google", "google") }, "You added Google as a way to sign in."],
    ["account.claimed", { ...own, target: null }, "You opened this account."],
    ["profile.updated", { ...own, target: null }, "You changed the profile."],
    ["something.new", {}, "Your agent “Claude” changed something."],
  ] as [string, Partial<Event>, string][])
    t.is(said({ action, ...more }), sentence);
});

test("changes by moderators, administrators and jobs are not shown as the person's own", (t) => {
  const updated = { action: "offer.updated", agent: null } as const;
  t.is(said({ ...updated, by: "moderator" }), "A moderator changed “Sofa”.");
  t.is(said({ ...updated, by: "dba" }), "Whoever runs this market changed “Sofa”.");
  t.is(said({ ...updated, by: "job" }), "The market’s own upkeep changed “Sofa”.");
  t.is(said({ action: "offer.removed", agent: null, by: "dba" }), "Whoever runs this market took down “Sofa”.");
});

test("events are grouped by month, in UTC", (t) => {
  const months = byMonth([
    { ...EVENT, at: "2026-04-01T00:00:00.000Z" },
    { ...EVENT, at: "2026-03-31T23:59:59.000Z" },
    { ...EVENT, at: "2026-03-01T00:00:00.000Z" },
  ]);
  t.deepEqual(
    months.map(({ month, events }) => [month.text, events.length]),
    [
      ["April 2026", 1],
      ["March 2026", 2],
    ],
  );
});
