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
  const claude = { type: "agent", id: "a", title: "Claude" };
  t.is(said({}), "Your agent “Claude” published “Sofa”.");
  t.is(said({ action: "offer.archived", agent: null }), "You archived “Sofa”.");
  t.is(said({ action: "offer.removed", agent: null }), "A moderator took down “Sofa”.");
  t.is(
    said({ action: "offer.pending_review" }),
    "Your agent “Claude” handed in “Sofa”; a moderator looks at it first.",
  );
  t.is(said({ action: "offer_change.created" }), "Your agent “Claude” changed “Sofa”; a moderator looks at it first.");
  const judged = { agent: null, by: "moderator" } as const;
  t.is(said({ ...judged, action: "offer.change_published" }), "A moderator published the change of “Sofa”.");
  t.is(said({ ...judged, action: "offer_change.rejected" }), "A moderator did not accept the change of “Sofa”.");
  t.is(said({ target: { type: "offer", id: "o", title: null } }), "Your agent “Claude” published an offer.");
  t.is(
    said({ action: "ask.created", target: { type: "ask", id: "k", title: "A bike" } }),
    "Your agent “Claude” asked for “A bike”.",
  );
  t.is(said({ action: "agent.created", agent: null, target: claude }), "Your agent “Claude” asked to act for you.");
  t.is(said({ action: "agent.connected", agent: null, target: claude }), "You approved the agent “Claude”.");
  t.is(said({ action: "agent.removed", agent: null, target: claude }), "You removed the agent “Claude”.");
  t.is(said({ action: "agent.removed", target: claude }), "Your agent “Claude” removed itself.");
  t.is(
    said({ action: "method.proved", agent: null, target: { type: "method", id: "google", title: "google" } }),
    "You added Google as a way to sign in.",
  );
  t.is(said({ action: "account.claimed", agent: null, target: null }), "You opened this account.");
  t.is(said({ action: "profile.updated", agent: null, target: null }), "You changed the profile.");
  t.is(said({ action: "something.new" }), "Your agent “Claude” changed something.");
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
