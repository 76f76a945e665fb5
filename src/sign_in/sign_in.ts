import type { SignInMethod } from "../database/enums.ts";
import type { Log } from "../log.ts";
import { type Mailer, openMailer } from "../mail/mailer.ts";
import type { OpenIdMethod } from "./methods.ts";
import { appleProvider, googleProvider, type OpenIdProvider } from "./openid.ts";
import type { SignInSettings } from "./settings.ts";

/** The sign-in methods that this process offers. */
export type SignIn = {
  /** In the order in which pages show them. */
  methods: readonly SignInMethod[];
  providers: Readonly<Partial<Record<OpenIdMethod, OpenIdProvider>>>;
  mailer: Mailer | null;
};

/**
 * Opens the sign-in methods that the settings configure. No connection is made before the first sign-in.
 * @param stopping when it aborts, requests to providers and messages in progress end, because the process cannot wait
 * any longer
 */
export const openSignIn = ({ google, apple, mail }: SignInSettings, log: Log, stopping: AbortSignal): SignIn => {
  const providers = {
    ...(google ? { google: googleProvider(google, log, stopping) } : {}),
    ...(apple ? { apple: appleProvider(apple, log, stopping) } : {}),
  };
  const openIdMethods = (["google", "apple"] as const).filter((method) => method in providers);
  return {
    methods: [...openIdMethods, ...(mail ? (["email"] as const) : [])],
    providers,
    mailer: mail ? openMailer(mail, log, stopping) : null,
  };
};

/**
 * The origins to which forms that start a sign-in may be redirected. A page's Content-Security-Policy has to name them,
 * because browsers apply form-action to redirects, too.
 */
export const providerOrigins = ({ providers }: SignIn): string[] =>
  Object.values(providers).map(({ origin }) => origin);
