import type { SignInMethod } from "../database/enums.ts";
import type { Log } from "../log.ts";
import { type Mailer, openMailer } from "../mail/mailer.ts";
import type { OpenIdMethod } from "./methods.ts";
import { appleProvider, googleProvider, type OpenIdProvider } from "./openid.ts";
import type { SignInSettings } from "./settings.ts";

/** The ways to sign in that this process offers. */
export type SignIn = {
  /** In the order in which people are shown them. */
  methods: readonly SignInMethod[];
  providers: Readonly<Partial<Record<OpenIdMethod, OpenIdProvider>>>;
  mailer: Mailer | null;
};

/**
 * What the settings offer. Nothing is connected to before a person comes.
 * @param stopping ends every call to a provider, when the process cannot wait any longer
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

/** Where forms that start a sign-in may end: browsers hold a page's policy for forms against redirects, too. */
export const providerOrigins = ({ providers }: SignIn): string[] =>
  Object.values(providers).map(({ origin }) => origin);
