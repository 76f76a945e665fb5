import type { TaskList } from "graphile-worker";
import { onBehalfOfItsJob, type Tools } from "./task.ts";
import { ageOffers } from "./tasks/age_offers.ts";
import { applyStanding } from "./tasks/apply_standing.ts";
import { inBatches } from "./tasks/batches.ts";
import { buildDocuments } from "./tasks/build_documents.ts";
import { checkInvariants } from "./tasks/check_invariants.ts";
import { completeSubmission } from "./tasks/complete_submission.ts";
import { deliverWebhook } from "./tasks/deliver_webhook.ts";
import { enqueueDigests, sendDigest } from "./tasks/digest.ts";
import { embedAsk, embedOffer } from "./tasks/embed.ts";
import { reembed } from "./tasks/reembed.ts";
import { refreshConcepts } from "./tasks/refresh_concepts.ts";
import {
  sendAccountNotice,
  sendApprovalNotice,
  sendConfirmationList,
  sendConfirmationNotice,
} from "./tasks/send_notices.ts";
import {
  keepAuditPartitions,
  keepEventPartitions,
  renumber,
  resumeReembedding,
  sweepDeliveries,
} from "./tasks/upkeep.ts";

/** The task of each job name. The database and the crontab add jobs by these names. */
export const taskList = (tools: Tools): TaskList =>
  onBehalfOfItsJob({
    complete_submission: completeSubmission(tools),
    embed_offer: embedOffer(tools),
    embed_ask: embedAsk(tools),
    deliver_webhook: deliverWebhook(tools),
    sweep_deliveries: sweepDeliveries(tools),
    apply_standing: applyStanding(tools),
    age_offers: ageOffers(tools),
    reembed: reembed(tools),
    refresh_concepts: refreshConcepts(tools),
    build_documents: buildDocuments(tools),
    resume_reembedding: resumeReembedding(tools),
    purge_keys: inBatches(tools, "purge_keys"),
    purge_sign_ins: inBatches(tools, "purge_sign_ins"),
    purge_agents: inBatches(tools, "purge_agents"),
    end_unused_agents: inBatches(tools, "end_unused_agents"),
    purge_oauth: inBatches(tools, "purge_oauth"),
    expire_deals: inBatches(tools, "expire_deals"),
    forget_deals: inBatches(tools, "forget_deals"),
    purge_deliveries: inBatches(tools, "purge_deliveries"),
    purge_sandboxes: inBatches(tools, "purge_sandboxes"),
    send_approval_notice: sendApprovalNotice(tools),
    send_account_notice: sendAccountNotice(tools),
    send_confirmation_notice: sendConfirmationNotice(tools),
    send_confirmation_list: sendConfirmationList(tools),
    enqueue_digests: enqueueDigests(tools),
    send_digest: sendDigest(tools),
    keep_audit_partitions: keepAuditPartitions(tools),
    keep_event_partitions: keepEventPartitions(tools),
    renumber: renumber(tools),
    sweep_submissions: inBatches(tools, "sweep_submissions"),
    check_invariants: checkInvariants(tools),
  });
