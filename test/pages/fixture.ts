import type { ExecutionContext } from "ava";
import type { Browser, Page } from "playwright-core";
import { launchBrowser, leaveBy, openPage, PHONE } from "../support/browser.ts";
import { withClient } from "../support/client.ts";
import { type Agent, call, connectAgent } from "../support/market.ts";
import { type SharedService, secondProcess, sharedService } from "../support/shared.ts";

/**
 * People in separate browser contexts: Chromium against the service that other test files use, too.
 *
 *   other   a second process of the service on the same database
 *   person  somebody who has approved an agent. `prove` and `age` write the results of a sign-in straight into the
 *           database, because the sign-in pages have tests of their own
 */

type Person = { page: Page; agent: Agent; account: string };

/** A browser and two processes of the service on one database. */
export type Fixture = {
  browser: Browser;
  /** The database's URL. */
  database: string;
  service: SharedService;
  /** The address of another process. */
  other: string;
  sql: <Row extends object>(text: string, values?: unknown[]) => Promise<Row[]>;
  /** Creates a person who has approved an agent of this name in a browser with a small phone screen. */
  newPerson: (t: ExecutionContext, name?: string) => Promise<Person>;
  /** Records that the account has proved a method and that its browsers signed in just now. */
  prove: (account: string, method?: string) => Promise<void>;
  /** Makes the last sign-in of the account's browsers 16 minutes old, too old for actions that cannot be undone. */
  age: (account: string) => Promise<void>;
  /** The status that each process returns for the agent's `GET /v1/me`. */
  statuses: (agent: Agent) => Promise<number[]>;
  end: () => Promise<void>;
};

/** Presses a button and waits for the page that follows. */
export const press = (page: Page, name: string | RegExp): Promise<void> =>
  leaveBy(page, page.getByRole("button", { name }).first());

/** Follows a link and waits for its page. */
export const follow = (page: Page, name: string): Promise<void> =>
  leaveBy(page, page.getByRole("link", { name, exact: true }).first());

/** Presses a button. Returns the Location header of the response to the form. */
export const pressAndFollow = async (page: Page, name: string | RegExp): Promise<string | undefined> => {
  const [led] = await Promise.all([
    page.waitForResponse((answer) => answer.request().method() === "POST"),
    page.getByRole("button", { name }).first().click(),
  ]);
  return led.headers()["location"];
};

/** The text of the page's h1. */
export const heading = (page: Page): Promise<string | null> => page.getByRole("heading", { level: 1 }).textContent();

/**
 * Starts the browser, and finds two processes of the service. Call `end` in `test.after.always`.
 */
export const openFixture = async (...configuration: Parameters<typeof sharedService>): Promise<Fixture> => {
  const [browser, service, other] = await Promise.all([
    launchBrowser(),
    sharedService(...configuration),
    secondProcess(...configuration),
  ]);

  const sql: Fixture["sql"] = <Row extends object>(text: string, values: unknown[] = []) =>
    withClient(service.database, async (client) => (await client.query<Row>(text, values)).rows);

  return {
    browser,
    database: service.database,
    service,
    other,
    sql,
    newPerson: async (t, name = "Claude") => {
      const page = await openPage(browser, PHONE, t);
      const agent = await connectAgent(service.url, name);
      await page.goto(agent.link);
      await press(page, agent.code);
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
      const answers = await Promise.all([service.url, other].map((url) => call(url, "GET", "/v1/me", { headers })));
      return answers.map(({ status }) => status);
    },
    end: () => browser.close(),
  };
};
