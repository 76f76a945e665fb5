import { randomInt } from "node:crypto";
import { withClient } from "../support/client.ts";
import { createDatabase, type Database } from "../support/database.ts";
import { freePort } from "../support/postgres.ts";
import { type Service, startService } from "../support/service.ts";
import { codeFrom, type MailServer, startMailServer } from "./mailbox.ts";
import { type OpenIdServer, startApple, startGoogle } from "./provider.ts";
import { newVisitor, type View, type Visitor } from "./visitor.ts";

/**
 * The whole service with a mail server and two OpenID providers around it.
 *
 *   signed in   a visitor who has a session that a proved method made
 */

export type Market = {
  url: string;
  service: Service;
  database: Database;
  mail: MailServer;
  google: OpenIdServer;
  apple: OpenIdServer;
  close: () => Promise<void>;
};

/** @param env more environment, which wins */
export const startMarket = async (env: Record<string, string> = {}): Promise<Market> => {
  // Known beforehand: providers are told where to send people back to.
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

/** A visitor from an address of its own, so that no test meets the limits of another. */
export const stranger = (): Visitor => newVisitor(`10.${randomInt(256)}.${randomInt(256)}.${randomInt(1, 255)}`);

/** Asks for a mail at the sign-in page. Gives the page that takes the code. */
export const askForMail = async (market: Market, visitor: Visitor, email: string, back = ""): Promise<View> => {
  const page = await visitor.get(`${market.url}/sign-in${back === "" ? "" : `?return=${encodeURIComponent(back)}`}`);
  return visitor.submit(page, "email", { email });
};

/** Signs in by the code in the mail. Gives where that led. */
export const signInByMail = async (market: Market, visitor: Visitor, email: string, back = ""): Promise<View> => {
  const page = await askForMail(market, visitor, email, back);
  return visitor.send(page, "code", { code: codeFrom(await market.mail.next(email)) });
};

/** Who the service says is signed in at a visitor. */
export const labelOf = async (market: Market, visitor: Visitor): Promise<string | null> => {
  const { text } = await visitor.get(`${market.url}/sign-out`);
  return /signed in as <bdi[^>]*>([^<]*)</.exec(text)?.[1] ?? null;
};

/** One row of the market's database, as a superuser. */
export const row = async <T extends Record<string, unknown>>(
  market: Market,
  sql: string,
  values: unknown[] = [],
): Promise<T> => withClient(market.database.url, async (client) => (await client.query(sql, values)).rows[0] as T);
