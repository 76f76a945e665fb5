import type { SignInMethod } from "../base/enums.ts";
import type { Log } from "../base/log.ts";
import { type Mailbox, openMailbox } from "../mail/mailbox.ts";
import { type Mailer, openMailer } from "../mail/mailer.ts";
import type { OpenIdMethod } from "./methods.ts";
import { apple, google, type OpenIdProvider, openProvider } from "./openid.ts";
import type { SignInSettings } from "./settings.ts";

/** The sign-in methods that this process offers. */
export type SignIn = {
  /** In the order in which pages show them. */
  methods: readonly SignInMethod[];
  providers: Readonly<Partial<Record<OpenIdMethod, OpenIdProvider>>>;
  mailer: Mailer | null;
  /** The mailer, if it keeps the messages for the page of the mailbox instead of sending them; otherwise null. */
  mailbox: Mailbox | null;
  /** The operator's key for what is kept about deleted accounts; null: the database uses a key of its own. */
  recordKey: Buffer | null;
};

/**
 * Opens the sign-in methods that the settings configure. No connection is made before the first sign-in.
 * @param stopping when it aborts, requests to providers and messages in progress end, because the process cannot wait
 * any longer
 * @param keepsMail messages are kept for the page of the mailbox instead of being sent (src/mail/mailbox.ts)
 */
export const openSignIn = (settings: SignInSettings, log: Log, stopping: AbortSignal, keepsMail: boolean): SignIn => {
  const { mail, recordKey } = settings;
  const providers = {
    ...(settings.google && { google: openProvider(google(settings.google), log, stopping) }),
    ...(settings.apple && { apple: openProvider(apple(settings.apple), log, stopping) }),
  };
  const openIdMethods = (["google", "apple"] as const).filter((method) => method in providers);
  const mailbox = keepsMail ? openMailbox() : null;
  const mailer = mailbox ?? (mail ? openMailer(mail, log, stopping) : null);
  return {
    methods: [...openIdMethods, ...(mailer ? (["email"] as const) : [])],
    providers,
    mailer,
    mailbox,
    recordKey,
  };
};

/**
 * The origins to which forms that start a sign-in may be redirected. A page's Content-Security-Policy has to name them,
 * because browsers apply form-action to redirects, too.
 */
export const providerOrigins = ({ providers }: SignIn): string[] =>
  Object.values(providers).map(({ origin }) => origin);
