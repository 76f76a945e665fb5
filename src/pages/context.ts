import type { Endpoint } from "../api/endpoint.ts";
import type { Arguments, Database } from "../database/database.ts";
import type { SignIn } from "../sign_in/sign_in.ts";

/**
 * What the pages need from the process. `baseUrl` is a function, because a port that the system chooses is known only
 * after the server listens.
 */
export type PagesContext = {
  database: Database;
  baseUrl: () => string;
  signIn: SignIn;
  /** The table of endpoints, from which the reference is made. */
  endpoints: readonly Endpoint[];
  /** Returns words without orders to software (src/reader/decide/orders.ts); null while the service starts. */
  withoutOrders: (words: string) => string | null;
};

/**
 * Calls a function of schema api for a visitor, who may have a link or a session. It uses the write pool, because a
 * replica that lags may not have what is seconds old.
 */
export const askVisitor = async <Answer>({ database }: PagesContext, name: string, args: Arguments): Promise<Answer> =>
  JSON.parse(await database.call("visitor", name, args, "write")) as Answer;
