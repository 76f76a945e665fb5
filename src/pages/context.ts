import type { Endpoint } from "../api/endpoint.ts";
import type { Database } from "../database/database.ts";
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
};
