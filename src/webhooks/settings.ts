import type { WebhookKeys } from "./secrets.ts";

/** What the environment says about webhooks. */
export type WebhookSettings = Readonly<{
  keys: WebhookKeys;
  /** Also http and addresses that are not public, for tests and closed networks. */
  anyAddress: boolean;
}>;
