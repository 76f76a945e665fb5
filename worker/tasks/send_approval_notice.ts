import { problemOf } from "../../src/http/problem.ts";
import { visibleName } from "../../src/http/visible_text.ts";
import { approvalMessage } from "../../src/mail/messages.ts";
import { type Tools, task } from "../task.ts";

/**
 * Tells a person by mail that an agent was approved in their name, and how to remove it. Sent once, or twice when the
 * worker dies between the mail server's yes and the note of it.
 */
export const sendApprovalNotice = ({ call, mailer, baseUrl }: Tools) =>
  task(async ({ id }, signal) => {
    // The operator has taken mail out of the configuration since.
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
      // A refusal is for people; a job fails by an error. The mailer has logged why.
      throw new Error(problemOf(thrown).detail);
    });
    await call("mark_approval_notice", id);
  });
