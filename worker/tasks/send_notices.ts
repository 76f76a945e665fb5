import { problemOf } from "../../src/base/problem.ts";
import { visibleName } from "../../src/base/visible_text.ts";
import type { Message } from "../../src/mail/mailer.ts";
import { type AccountAct, accountMessage, approvalMessage } from "../../src/mail/messages.ts";
import { type Tools, task } from "../task.ts";

/**
 * Sends the messages that tell a person who acts for them. Each message is sent once, or twice if the worker dies after
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

/** Makes the task that sends the notice about one row, which the function `get` reads and `mark` notes as sent. */
const sendNotice = <Notice extends { email: string }>(
  { call, mailer, baseUrl }: Tools,
  { get, mark }: { get: string; mark: string },
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
    await call(mark, id);
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
