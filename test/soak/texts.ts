import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { withoutPage } from "../support/market.ts";
import { type Calls, type Household, RESEND_MS, RETRY_MS } from "./calls.ts";
import type { Text } from "./ledger.ts";
import type { Random } from "./random.ts";

/** Publishers: what they write, and how they send it until they know what became of it. */

/** The places that the texts name. */
export const PLACES = ["Berlin", "Hamburg", "Leipzig", "Lyon", "Porto"];
/** What all texts are about. */
export const THINGS = ["grey three-seat sofa", "oak table", "red city bike", "used laptop", "winter jacket"];

/** The text of an offer. */
export const offerText = (random: Random, mark: string, word = "first"): string =>
  `${random.pick(THINGS)}, good condition, reference ${mark}. ${random.whole(20, 900)} EUR, pick up in ${random.pick(PLACES)}. Write to lena@example.com. Version ${word}`;

/** The text of an ask. */
export const askText = (random: Random, mark: string, word = "first"): string =>
  `Looking for a ${random.pick(THINGS)} in ${random.pick(PLACES)}, up to ${random.whole(100, 900)} EUR, reference ${mark}. Version ${word}`;

/** The id of the offer or ask that was created from a text. */
export const idOf = (text: Text): string => (text.kind === "offer" ? text.body.offer_id : text.body.id);

/** Its path. */
export const pathOf = (text: Text): string => `/v1/${text.kind}s/${idOf(text)}`;

/**
 * Sends a text and notes its outcome. With a key, it is sent until the outcome is known.
 * @param household null if the text is nobody's
 */
export const submit = async (
  { ledger, send }: Calls,
  household: Household | null,
  token: string,
  kind: Text["kind"],
  text: string,
  mark: string,
  key: string | null,
): Promise<Text> => {
  const noted: Text = {
    kind,
    mark,
    household: household?.name ?? "nobody",
    token,
    sent: { text },
    key,
    begun: performance.now(),
    ended: Number.POSITIVE_INFINITY,
    verdict: "unknown",
    status: null,
    body: null,
    cap: 0,
    revision: null,
  };
  ledger.texts.push(noted);
  const path = kind === "offer" ? "/v1/offers" : "/v1/asks";
  let doubt = false;
  for (const end = performance.now() + RESEND_MS; performance.now() < end; await sleep(RETRY_MS)) {
    const told = await send(`POST ${path}`, "POST", path, {
      token,
      body: noted.sent,
      headers: key === null ? {} : { "idempotency-key": key },
    });
    noted.ended = performance.now();
    if (told === null) {
      doubt = true;
      if (key === null) break;
      continue;
    }
    const { status, body, headers } = told.answer;
    noted.status = status;
    noted.cap = Math.max(noted.cap, Number(headers["ratelimit-limit"] ?? 0));
    if (status === 201) {
      noted.verdict = "made";
      noted.body = body;
      break;
    }
    const again = status === 503 || (status === 409 && body.code === "idempotency_in_flight");
    const nothingDone = status !== 503 || /nothing was (done|published)/i.test(body.detail ?? "");
    if (key !== null && again) {
      doubt ||= !nothingDone;
      continue;
    }
    // After a lost answer, only a 429 or 400 proves that the first request did nothing: both come after the key was looked up.
    const certain = !doubt || status === 429 || status === 400;
    if (nothingDone && certain) noted.verdict = "refused";
    break;
  }
  if (noted.verdict === "made") household?.texts.push(noted);
  return noted;
};

/** A key that was used gives the first answer again. */
export const replay = async ({ ledger, send }: Calls, text: Text, suspended: boolean): Promise<void> => {
  const path = text.kind === "offer" ? "/v1/offers" : "/v1/asks";
  const told = await send(`replay ${text.kind}`, "POST", path, {
    token: text.token,
    body: text.sent,
    headers: { "idempotency-key": text.key ?? "" },
  });
  if (told === null || [408, 503].includes(told.answer.status) || (suspended && told.answer.status === 409)) return;
  const { status, body, headers } = told.answer;
  if (
    status !== 201 ||
    headers["idempotency-replayed"] !== "true" ||
    !isDeepStrictEqual(withoutPage(body), withoutPage(text.body))
  )
    ledger.violate("a used key replays the first answer", `${text.key}: ${told.answer.text.slice(0, 500)}`, told.begun);
};
