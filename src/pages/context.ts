import type { Database } from "../database/database.ts";
import type { SignIn } from "../sign_in/sign_in.ts";

/** What the pages need of the process. `baseUrl` is a function because a free port is known only once it is listened on. */
export type PagesContext = { database: Database; baseUrl: () => string; signIn: SignIn };
