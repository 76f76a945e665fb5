import type { ExecutionContext } from "ava";
import type { Browser, Page } from "playwright-core";
import { launchBrowser, leaveBy, openPage, PHONE } from "../support/browser.ts";
import { withClient } from "../support/client.ts";
import { createDatabase, type Database } from "../support/database.ts";
import { type Agent, call, connectAgent } from "../support/market.ts";
import { type Service, startPart, startService } from "../support/service.ts";

/**
 * People at browsers of their own: Chromium against the real service and its database.
 *
 *   other   a second process of the service on the same database
 *   person  has approved an agent; what a sign-in leaves behind is written past the sign-in pages, which have tests of
 *           their own
 */

type Person = { page: Page; agent: Agent; account: string };

export type Fixture = {
  browser: Browser;
  service: Service;
  other: Service;
  sql: <Row extends object>(text: string, values?: unknown[]) => Promise<Row[]>;
  /** A person who has approved an agent of this name on a small telephone. */
  newPerson: (t: ExecutionContext, name?: string) => Promise<Person>;
  /** Makes the account's person have proved a method, and their browsers signed in a moment ago. */
  prove: (account: string, method?: string) => Promise<void>;
  /** Makes the last sign-in of the account's browsers too old for what cannot be undone. */
  age: (account: string) => Promise<void>;
  /** What each process answers to the agent. */
  statuses: (agent: Agent) => Promise<number[]>;
  end: () => Promise<void>;
};

/** Presses a button and waits for the page that follows. */
export const press = (page: Page, name: string | RegExp): Promise<void> =>
  leaveBy(page, page.getByRole("button", { name }).first());

/** Follows a link and waits for its page. */
export const follow = (page: Page, name: string): Promise<void> =>
  leaveBy(page, page.getByRole("link", { name, exact: true }).first());

/** Presses a button, and gives where the answer leads. */
export const pressAndFollow = async (page: Page, name: string | RegExp): Promise<string | undefined> => {
  const [led] = await Promise.all([
    page.waitForResponse((answer) => answer.request().method() === "POST"),
    page.getByRole("button", { name }).first().click(),
  ]);
  return led.headers()["location"];
};

export const heading = (page: Page): Promise<string | null> => page.getByRole("heading", { level: 1 }).textContent();

/** Starts everything, with more environment where a test needs it. Call `end` in `test.after.always`. */
export const openFixture = async (more: Record<string, string> = {}): Promise<Fixture> => {
  const [browser, database]: [Browser, Database] = await Promise.all([launchBrowser(), createDatabase()]);
  // Every agent of these tests connects from one address.
  const env = { CONNECTIONS_PER_HOUR: "1000", ...more };
  const service = await startService({ database: database.url, env });
  const other = await startPart("api", { database: database.url, env });

  const sql: Fixture["sql"] = <Row extends object>(text: string, values: unknown[] = []) =>
    withClient(database.url, async (client) => (await client.query<Row>(text, values)).rows);

  return {
    browser,
    service,
    other,
    sql,
    newPerson: async (t, name = "Claude") => {
      const page = await openPage(browser, PHONE, t);
      const agent = await connectAgent(service.url, name);
      await page.goto(agent.link);
      await press(page, "Approve");
      const [found] = await sql<{ account_id: string }>("select account_id from market.agent where id = $1", [
        agent.id,
      ]);
      return { page, agent, account: found?.account_id ?? t.fail("the agent has no account") };
    },
    prove: async (account, method = "email") => {
      await sql(
        `insert into market.proved_method (account_id, method, subject_hash, email)
         values ($1::uuid, $2, sha256(convert_to($1::text || $2, 'UTF8')), 'lena@example.com')`,
        [account, method],
      );
      await sql("update market.session set signed_in_at = now() where account_id = $1", [account]);
    },
    age: async (account) => {
      await sql("update market.session set signed_in_at = now() - interval '16 minutes' where account_id = $1", [
        account,
      ]);
    },
    statuses: async (agent) => {
      const headers = { authorization: `Bearer ${agent.token}` };
      const answers = await Promise.all([service, other].map(({ url }) => call(url, "GET", "/v1/me", { headers })));
      return answers.map(({ status }) => status);
    },
    end: async () => {
      await Promise.all([browser.close(), service.stop(), other.stop()]);
      await database.drop();
    },
  };
};
