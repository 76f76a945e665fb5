import { problemOf } from "../../src/http/problem.ts";
import { visibleName } from "../../src/http/visible_text.ts";
import { approvalMessage } from "../../src/mail/messages.ts";
import { type Tools, task } from "../task.ts";

/**
 * Sends a person the e-mail message that an agent was approved in their name, and how to remove it. The message is sent
 * once, or twice if the worker dies after the mail server took it and before the database noted it.
 */
export const sendApprovalNotice = ({ call, mailer, baseUrl }: Tools) =>
  task(async ({ id }, signal) => {
    // The operator has removed the mail server from the configuration since the job was added.
    if (mailer === null) return;
    const [notice] = await call<{ email: string; agent_name: string; connected_at: string } | null>(
      "get_approval_notice",
      id,
    );
    if (!notice) return;
    const message = approvalMessage({
      agentName: visibleName(notice.agent_name),
      approvedAt: notice.connected_at,
      settings: `${baseUrl()}/settings`,
    });
    await mailer.send(notice.email, message, signal).catch((thrown: unknown) => {
      // The mailer throws a Problem, but graphile-worker expects an Error. The mailer has logged the cause.
      throw new Error(problemOf(thrown).detail);
    });
    await call("mark_approval_notice", id);
  });
