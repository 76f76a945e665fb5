import { withClient } from "../support/client.ts";
import { createDatabase, type Database } from "../support/database.ts";
import { freePort } from "../support/postgres.ts";
import { type Service, startService } from "../support/service.ts";
import { codeFrom, type MailServer, startMailServer } from "./mailbox.ts";
import { type OpenIdServer, startApple, startGoogle } from "./provider.ts";
import { newVisitor, type View, type Visitor } from "./visitor.ts";

/** The whole service with a mail server and two OpenID providers. */

/** A running service with its mail server and providers. */
export type Market = {
  url: string;
  service: Service;
  database: Database;
  mail: MailServer;
  google: OpenIdServer;
  apple: OpenIdServer;
  close: () => Promise<void>;
};

/** @param env further environment variables, which override the defaults */
export const startMarket = async (env: Record<string, string> = {}): Promise<Market> => {
  // The port is chosen in advance, because the providers must know the service's callback address.
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const [database, mail, google, apple] = await Promise.all([
    createDatabase(),
    startMailServer(),
    startGoogle(url),
    startApple(url),
  ]);
  const service = await startService({
    database: database.url,
    env: {
      PORT: String(port),
      TRUST_PROXY: "loopback",
      SMTP_URL: mail.url,
      MAIL_FROM: "Souk <souk@souk.example>",
      ...google.env,
      ...apple.env,
      ...env,
    },
  });
  return {
    url,
    service,
    database,
    mail,
    google,
    apple,
    close: async () => {
      await service.stop();
      await Promise.all([mail.close(), google.close(), apple.close()]);
      await database.drop();
    },
  };
};

let strangers = 0;

/**
 * Creates a visitor whose address is in a region (IPv4 /16) that no other has, so that tests share no rate limits of an
 * address. Drawn at random, two of twenty visitors would often share one.
 */
export const stranger = (): Visitor => {
  strangers += 1;
  return newVisitor(`${10 + Math.floor(strangers / 256)}.${strangers % 256}.0.1`);
};

/** Asks for a sign-in mail on the sign-in page. Returns the page that takes the code. */
export const askForMail = async (market: Market, visitor: Visitor, email: string, back = ""): Promise<View> => {
  const page = await visitor.get(`${market.url}/sign-in${back === "" ? "" : `?return=${encodeURIComponent(back)}`}`);
  return visitor.submit(page, "email", { email });
};

/** Signs in with the code from the mail. Returns the response, which is a redirect. */
export const signInByMail = async (market: Market, visitor: Visitor, email: string, back = ""): Promise<View> => {
  const page = await askForMail(market, visitor, email, back);
  return visitor.send(page, "code", { code: codeFrom(await market.mail.next(email)) });
};

/** Returns the label of the account that the visitor is signed in to, or null. */
export const labelOf = async (market: Market, visitor: Visitor): Promise<string | null> => {
  const { text } = await visitor.get(`${market.url}/sign-out`);
  return /signed in as <bdi[^>]*>([^<]*)</.exec(text)?.[1] ?? null;
};

/** Returns the first row of a query on the market's database, run as a superuser. */
export const row = async <T extends Record<string, unknown>>(
  market: Market,
  sql: string,
  values: unknown[] = [],
): Promise<T> => withClient(market.database.url, async (client) => (await client.query(sql, values)).rows[0] as T);
