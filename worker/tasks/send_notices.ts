import { problemOf } from "../../src/base/problem.ts";
import { visibleName, visibleText } from "../../src/base/visible_text.ts";
import type { Message } from "../../src/mail/mailer.ts";
import { type AccountAct, accountMessage, approvalMessage, confirmationMessage } from "../../src/mail/messages.ts";
import { type Tools, task } from "../task.ts";

/**
 * Sends the messages that tell a person who acts for them, and what waits for them. Each message is sent once, or twice if the worker dies after
 * the mail server took it and before the database noted it.
 */

/** What jobs.get_approval_notice returns. */
type Approval = { email: string; agent_name: string; connected_at: string };

/** What jobs.get_account_notice returns. */
type AccountNotice = {
  email: string;
  act: AccountAct;
  method: string | null;
  agent_name: string | null;
  happened_at: string;
  recovered: boolean;
  kept: string[];
  removed: string[];
  waiting: string[];
};

/** What jobs.get_confirmation_notice and jobs.get_confirmation_list return. */
type Confirmations = { email: string; up_to: string; confirmations: { id: string; title: string | null }[] };

/** The database's limit for titles. */
const TITLE_LENGTH = 120;

/**
 * Makes the task that sends the notice about one row, which the function `get` reads and `mark` notes as sent.
 * @param marked what `mark` gets besides the row's id
 */
const sendNotice = <Notice extends { email: string }>(
  { call, mailer, baseUrl }: Tools,
  { get, mark, marked = () => [] }: { get: string; mark: string; marked?: (notice: Notice) => unknown[] },
  toMessage: (notice: Notice, settings: string) => Message,
) =>
  task(async ({ id }, signal) => {
    // The operator has removed the mail server from the configuration since the job was added.
    if (mailer === null) return;
    const [notice] = await call<Notice | null>(get, id);
    if (!notice) return;
    const message = toMessage(notice, `${baseUrl()}/settings`);
    await mailer.send(notice.email, message, signal).catch((thrown: unknown) => {
      // The mailer throws a Problem, but graphile-worker expects an Error. The mailer has logged the cause.
      throw new Error(problemOf(thrown).detail);
    });
    await call(mark, id, ...marked(notice));
  });

/** Tells a person that an agent was approved in their name, and how to remove it. */
export const sendApprovalNotice = (tools: Tools) =>
  sendNotice<Approval>(
    tools,
    { get: "get_approval_notice", mark: "mark_approval_notice" },
    ({ agent_name, connected_at }, settings) =>
      approvalMessage({ agentName: visibleName(agent_name), approvedAt: connected_at, settings }),
  );

/** Tells an address of an account what happened to the account. */
export const sendAccountNotice = (tools: Tools) =>
  sendNotice<AccountNotice>(
    tools,
    { get: "get_account_notice", mark: "drop_account_notice" },
    ({ happened_at, agent_name, ...notice }, settings) =>
      accountMessage({
        ...notice,
        agentName: agent_name === null ? null : visibleName(agent_name),
        happenedAt: happened_at,
        kept: notice.kept.map(visibleName),
        removed: notice.removed.map(visibleName),
        waiting: notice.waiting.map(visibleName),
        settings,
      }),
  );

const sendConfirmations = (tools: Tools, calls: { get: string; mark: string }) =>
  sendNotice<Confirmations>(tools, { ...calls, marked: ({ up_to }) => [up_to] }, ({ confirmations }) =>
    confirmationMessage({
      confirmations: confirmations.map(({ id, title }) => ({
        title: visibleText(title ?? "", TITLE_LENGTH) || "Without a title",
        url: `${tools.baseUrl()}/confirmations/${id}`,
      })),
      settings: `${tools.baseUrl()}/settings/alerts`,
    }),
  );

/** Tells a person that an agreement waits for their confirmation. */
export const sendConfirmationNotice = (tools: Tools) =>
  sendConfirmations(tools, { get: "get_confirmation_notice", mark: "mark_confirmation_notice" });

/** Tells a person which agreements wait for their confirmation. */
export const sendConfirmationList = (tools: Tools) =>
  sendConfirmations(tools, { get: "get_confirmation_list", mark: "mark_confirmation_list" });
