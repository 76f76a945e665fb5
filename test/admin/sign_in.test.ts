import { randomBytes } from "node:crypto";
import test from "ava";
import type { Browser } from "playwright-core";
import { safeReturnPath } from "../../src/pages/return_path.ts";
import { axeFindings } from "../pages/sound.ts";
import { launchBrowser, leaveBy, openPage, overflowing, screenshot, VIEWS } from "../support/browser.ts";
import { EVERYTHING } from "../support/shared.ts";
import { type AdminFixture, browserOf, codes, type GraphQl, type Moderator, openAdminFixture } from "./fixture.ts";

/** Tests that decisions of moderators need a recent sign-in by a proved method, where there is a method at all. */

/** A market that offers every way to sign in, and one that offers none. */
let offering: AdminFixture;
let bare: AdminFixture;
let fixture: AdminFixture;
let moderator: Moderator;
let browser: Browser;
test.before(async () => {
  [browser, offering, bare] = await Promise.all([launchBrowser(), openAdminFixture(EVERYTHING), openAdminFixture()]);
});
test.beforeEach(() => {
  fixture = offering;
});
test.after.always(async () => {
  await browser?.close();
  await Promise.all([offering?.stop(), bare?.stop()]);
});

/** The sign-in of a moderator's session. */
type SignIn = { proved: boolean; minutesAgo: number | null };

const signIn = async ({ proved, minutesAgo }: SignIn): Promise<void> => {
  moderator = await fixture.moderator("Mo");
  if (proved) {
    await fixture.sql("insert into market.proved_method (account_id, method, subject_hash) values ($1, 'email', $2)", [
      moderator.account,
      randomBytes(32),
    ]);
  }
  await fixture.sql(
    "update market.session set signed_in_at = now() - make_interval(mins => $2) where account_id = $1",
    [moderator.account, minutesAgo],
  );
};
/** Sends every decision that there is, on a new offer and its account. Returns the responses by name. */
const decideAll = async (): Promise<Record<string, GraphQl>> => {
  const owner = await fixture.agent();
  const account = await fixture.accountOf(owner);
  const [kept, removed] = [await fixture.publish(owner), await fixture.publish(owner)];
  const [setting] = await fixture.sql("select value from market.setting where name = 'first_offers_to_review'");
  return {
    claim: await moderator.mutate("claimCase", { offerId: kept }),
    keep: await moderator.decide("keepOffer", kept),
    remove: await moderator.decide("removeOffer", removed, { reason: "scam" }),
    cap: await moderator.mutate("overrideCap", { accountId: account, action: "create_ask", cap: 5 }),
    remove_agent: await moderator.mutate("removeAgent", { id: owner.id }),
    suspend: await moderator.mutate("suspendAccount", { id: account, reason: "scam" }),
    setting: await moderator.mutate("changeSetting", {
      name: "first_offers_to_review",
      value: setting?.value,
      expectedValue: setting?.value,
    }),
  };
};
const decisions = async (): Promise<number> =>
  (await fixture.sql("select from market.decision where moderator_id = $1", [moderator.account])).length;
const obstacle = async (): Promise<string | null> =>
  (await moderator.ask("{ viewer { signInObstacle } }")).viewer.signInObstacle;

for (const { name, available, session, expected } of [
  { name: "without any method", available: false, session: { proved: false, minutesAgo: null }, expected: null },
  {
    name: "without a proved method",
    available: true,
    session: { proved: false, minutesAgo: null },
    expected: ["add_method", "verification_required"],
  },
  {
    name: "with a method, but a session that never signed in",
    available: true,
    session: { proved: true, minutesAgo: null },
    expected: ["sign_in_again", "unauthorized"],
  },
  {
    name: "after a sign-in sixteen minutes ago",
    available: true,
    session: { proved: true, minutesAgo: 16 },
    expected: ["sign_in_again", "unauthorized"],
  },
  { name: "after a recent sign-in", available: true, session: { proved: true, minutesAgo: 14 }, expected: null },
] as const) {
  test.serial(`${name}, a moderator may ${expected === null ? "decide" : "look but not decide"}`, async (t) => {
    if (!available) fixture = bare;
    await signIn(session);
    t.is(await obstacle(), expected?.[0] ?? null);
    const answers = await decideAll();
    for (const [decision, answer] of Object.entries(answers)) {
      t.deepEqual(codes(answer), expected === null ? [] : [expected[1]], decision);
    }
    t.is(await decisions(), expected === null ? 5 : 0);
    if (expected === null) return;
    const [error] = answers["keep"]?.errors ?? [];
    if (expected[0] === "add_method") {
      t.like(error?.extensions, { status: 403, accepted_methods: ["google", "apple", "email"] });
      t.regex(error?.message ?? "", /Add a way to sign in: Settings, Signing in\. Then decide again\./);
    } else {
      t.like(error?.extensions, { status: 401, sign_in_again: true });
      t.regex(error?.message ?? "", /sign in again\. Then decide again, within 15 minutes\./);
    }
    t.truthy((await moderator.ask("{ queues(first: 5) { nodes { name } } }")).queues, "the moderator still reads");
  });
}

test.serial(
  "a refused decision on a page keeps what was typed, and the page leads to the sign-in and back",
  async (t) => {
    await signIn({ proved: true, minutesAgo: 60 });
    const id = await fixture.publish(await fixture.agent());
    const path = `/admin/offers/${id}`;
    const visitor = browserOf(fixture.url, moderator);
    const page = await visitor.get(fixture.url + path);
    const refused = await visitor.send(page, "Remove", { reason: "scam", words: "Typed with care." });
    t.is(refused.status, 401);
    t.true(refused.text.includes("Nothing was decided. To be sure that it is you, sign in again."));
    t.true(refused.text.includes("Typed with care."));
    const link = /<a href="([^"]*)">Sign in again</.exec(refused.text)?.[1]?.replaceAll("&amp;", "&") ?? "";
    t.is(link, `/sign-in?${new URLSearchParams({ return: path, again: "1" })}`);
    t.is(safeReturnPath(path), path, "the sign-in leads back to the offer");
  },
);

for (const view of VIEWS) {
  test.serial(`a moderator who has to sign in first reads so on every page on ${view.name}`, async (t) => {
    const owner = await fixture.agent();
    const [id, account] = [await fixture.publish(owner), await fixture.accountOf(owner)];
    for (const [name, session, label, target] of [
      ["add", { proved: false, minutesAgo: null }, "Add a way to sign in", "/settings/methods"],
      ["again", { proved: true, minutesAgo: 60 }, "Sign in again", "/sign-in"],
    ] as const) {
      await signIn(session);
      const page = await openPage(browser, view, t);
      await page.context().addCookies([{ name: "souk_session", value: moderator.secret, url: fixture.url }]);
      for (const path of ["/admin", `/admin/offers/${id}`, `/admin/accounts/${account}`, "/admin/settings"]) {
        await page.goto(fixture.url + path);
        t.true(await page.getByText("You can look, but not decide").isVisible(), path);
        t.deepEqual(await axeFindings(page), [], path);
        t.is(await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"), 0);
      }
      await page.goto(`${fixture.url}/admin/offers/${id}`);
      await screenshot(page, `admin-sign-in-${name}-${view.name}`);
      t.deepEqual(
        (await overflowing(page)).filter((element) => /^<p class="notice"/.test(element)),
        [],
      );
      await leaveBy(page, page.getByRole("link", { name: label }));
      t.is(new URL(page.url()).pathname, target);
    }
  });
}
