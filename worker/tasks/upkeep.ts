import type { Task } from "graphile-worker";
import type { Tools } from "../task.ts";

const upkeepTask =
  (
    { call, log }: Tools,
    name:
      | "purge_keys"
      | "purge_sign_ins"
      | "purge_agents"
      | "purge_oauth"
      | "keep_audit_partitions"
      | "keep_event_partitions"
      | "sweep_submissions"
      | "sweep_deliveries"
      | "resume_reembedding",
  ): Task =>
  async () => {
    const [count = 0] = await call<number>(name);
    if (count > 0) log.info({ count }, name);
  };

/**
 * Deletes idempotency keys, completed submissions and rate limit hits older than 24 hours, query vectors older than 30
 * days, and provisional accounts without an agent.
 */
export const purgeKeys = (tools: Tools) => upkeepTask(tools, "purge_keys");

/** Deletes sign-in attempts, sessions and verifications that have ended. */
export const purgeSignIns = (tools: Tools) => upkeepTask(tools, "purge_sign_ins");

/** Deletes agents that nobody approved, 7 days after their creation or their last write. */
export const purgeAgents = (tools: Tools) => upkeepTask(tools, "purge_agents");

/** Deletes clients of OAuth that registered and never finished, and requests for authorization that led to no token. */
export const purgeOauth = (tools: Tools) => upkeepTask(tools, "purge_oauth");

/** Creates the audit log's partitions for this and the next month, and drops those older than 12 months. */
export const keepAuditPartitions = (tools: Tools) => upkeepTask(tools, "keep_audit_partitions");

/** Creates the partitions of events for this and the next week, and drops those older than 30 days. */
export const keepEventPartitions = (tools: Tools) => upkeepTask(tools, "keep_event_partitions");

/**
 * Withdraws submissions whose jobs were lost, which frees their idempotency keys. Enqueues stored asks whose texts were
 * never read.
 */
export const sweepSubmissions = (tools: Tools) => upkeepTask(tools, "sweep_submissions");

/**
 * Enqueues jobs that make vectors again if they permanently failed, for example because a provider was down for long: those
 * of single offers and asks, and that of an unfinished change of the embedding model.
 */
export const resumeReembedding = (tools: Tools) => upkeepTask(tools, "resume_reembedding");

/** Has webhooks sent again whose deliveries are late, and deletes deliveries older than seven days. */
export const sweepDeliveries = (tools: Tools) => upkeepTask(tools, "sweep_deliveries");
