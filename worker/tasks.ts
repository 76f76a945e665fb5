import type { TaskList } from "graphile-worker";
import { onBehalfOfItsJob, type Tools } from "./task.ts";
import { applyStanding } from "./tasks/apply_standing.ts";
import { checkInvariants } from "./tasks/check_invariants.ts";
import { completeSubmission } from "./tasks/complete_submission.ts";
import { embedAsk, embedOffer } from "./tasks/embed.ts";
import { reembed } from "./tasks/reembed.ts";
import { refreshConcepts } from "./tasks/refresh_concepts.ts";
import { sendApprovalNotice } from "./tasks/send_approval_notice.ts";
import {
  keepAuditPartitions,
  purgeAgents,
  purgeKeys,
  purgeSignIns,
  resumeReembedding,
  sweepSubmissions,
} from "./tasks/upkeep.ts";

/** The task of each job name. The database and the crontab add jobs by these names. */
export const taskList = (tools: Tools): TaskList =>
  onBehalfOfItsJob({
    complete_submission: completeSubmission(tools),
    embed_offer: embedOffer(tools),
    embed_ask: embedAsk(tools),
    apply_standing: applyStanding(tools),
    reembed: reembed(tools),
    refresh_concepts: refreshConcepts(tools),
    resume_reembedding: resumeReembedding(tools),
    purge_keys: purgeKeys(tools),
    purge_sign_ins: purgeSignIns(tools),
    purge_agents: purgeAgents(tools),
    send_approval_notice: sendApprovalNotice(tools),
    keep_audit_partitions: keepAuditPartitions(tools),
    sweep_submissions: sweepSubmissions(tools),
    check_invariants: checkInvariants(tools),
  });
