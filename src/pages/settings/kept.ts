/** Sentences about what moderation decided about an account, which outlives the account and its sign-in methods. */

/** What moderation decided: suspended the account, took down offers of it, set limits for it. */
export type Kept = { suspended: boolean; removals: number; caps: number };

const LIST = new Intl.ListFormat("en", { type: "conjunction" });

/** What moderation has done, after "Moderation has"; null for nothing. */
export const decidedOf = (kept: Kept | null): string | null =>
  kept === null
    ? null
    : LIST.format([
        ...(kept.suspended ? ["suspended this account"] : []),
        ...(kept.removals > 0
          ? [`taken down ${kept.removals === 1 ? "one offer" : `${kept.removals} offers`} of yours`]
          : []),
        ...(kept.caps > 0 ? ["set limits for this account"] : []),
      ]);

/** What the decisions mean for an account that is made with the same sign-in method. */
export const effectsOf = (kept: Kept): string =>
  LIST.format([
    ...(kept.suspended ? ["your new account is suspended"] : []),
    ...(kept.removals > 0 ? ["what was taken down counts against it"] : []),
    ...(kept.caps > 0 ? ["the same limits hold"] : []),
  ]);
