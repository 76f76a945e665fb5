import { type Act, type Calls, own } from "./calls.ts";
import type { Text } from "./ledger.ts";
import { askText, offerText, pathOf, replay, submit } from "./texts.ts";

/** Publishers: they write, change, move and preview texts, report those of others, and repeat themselves. */

/** The acts of publishers. */
export const publishing = (calls: Calls) => {
  const { ledger, send, expectStatus, newMark } = calls;

  const write =
    (kind: Text["kind"]): Act =>
    async (household, caller) => {
      const { random } = household;
      const mark = newMark(household.name);
      const key = random.next() < 0.8 ? `key ${mark}` : null;
      const noted = await submit(
        calls,
        household,
        caller.token,
        kind,
        (kind === "offer" ? offerText : askText)(random, mark),
        mark,
        key,
      );
      if (
        noted.verdict !== "made" &&
        ![408, 429, 503, null].includes(noted.status) &&
        !(household.suspended && noted.status === 409)
      )
        ledger.violate(
          "a caller gets the right answer",
          `${kind} gave ${noted.status} for ${noted.sent.text}`,
          noted.begun,
        );
    };

  const change =
    (kind: Text["kind"]): Act =>
    async (household, caller) => {
      const text = own(household, kind);
      if (!text) return;
      const { random } = household;
      const word = newMark(household.name);
      const body = { text: (kind === "offer" ? offerText : askText)(random, text.mark, word) };
      const before = text.revision;
      text.revision = null;
      const told = await send(`PATCH ${kind}`, "PATCH", pathOf(text), { token: caller.token, body });
      if (told?.answer.status === 200) text.revision = word;
      else if (told && told.answer.status < 500) text.revision = before;
      if (!household.suspended) expectStatus(told, `PATCH ${kind}`, 200, 409, 429);
    };

  const move =
    (kind: Text["kind"], ...moves: string[]): Act =>
    async (household, caller) => {
      const text = own(household, kind);
      if (!text) return;
      const name = household.random.pick(moves);
      const told = await send(`${name} ${kind}`, "POST", `${pathOf(text)}/${name}`, { token: caller.token });
      expectStatus(told, `${name} ${kind}`, 200, 409, 429);
    };

  const repeat: Act = async (household, caller) => {
    const keyed = household.texts.filter(({ key, token }) => key !== null && token === caller.token);
    if (keyed.length > 0) await replay(calls, household.random.pick(keyed), household.suspended);
  };

  const report: Act = async ({ random, name }, caller) => {
    const made = ledger.texts.filter(
      ({ kind, verdict, household }) => kind === "offer" && verdict === "made" && household !== name,
    );
    if (made.length === 0) return;
    const path = `${pathOf(random.pick(made))}/report`;
    expectStatus(
      await send("report", "POST", path, { token: caller.token, body: { reason: "spam" } }),
      "report",
      200,
      404,
      409,
      429,
    );
  };

  const preview: Act = async ({ random, name }, caller) => {
    const body = { text: offerText(random, newMark(name)) };
    expectStatus(
      await send("preview", "POST", "/v1/offers/preview", { token: caller.token, body }),
      "preview",
      200,
      429,
    );
  };

  const withoutContact: Act = async (household, caller) => {
    const mark = newMark(household.name);
    const noted = await submit(
      calls,
      household,
      caller.token,
      "offer",
      `Oak table, reference ${mark}, 40 EUR, Berlin`,
      mark,
      `key ${mark}`,
    );
    if (noted.verdict === "made")
      ledger.violate("a caller gets the right answer", `published without a contact: ${mark}`, noted.begun);
  };

  return { write, change, move, repeat, report, preview, withoutContact };
};
