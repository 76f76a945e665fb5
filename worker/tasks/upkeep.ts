import type { Task } from "graphile-worker";
import type { Tools } from "../task.ts";

const upkeepTask =
  (
    { call, log }: Tools,
    name: "keep_audit_partitions" | "keep_event_partitions" | "renumber" | "sweep_deliveries" | "resume_reembedding",
  ): Task =>
  async () => {
    const [count = 0] = await call<number>(name);
    if (count > 0) log.info({ count }, name);
  };

/** Creates the audit log's partitions for this and the next month, and drops those older than 12 months. */
export const keepAuditPartitions = (tools: Tools) => upkeepTask(tools, "keep_audit_partitions");

/** Creates the partitions of events for this and the next week, and drops those older than 30 days. */
export const keepEventPartitions = (tools: Tools) => upkeepTask(tools, "keep_event_partitions");

/** Gives what was restored from another server numbers of transactions that readers can see. */
export const renumber = (tools: Tools) => upkeepTask(tools, "renumber");

/**
 * Enqueues jobs that make vectors again if they permanently failed, for example because a provider was down for long: those
 * of single offers and asks, and that of an unfinished change of the embedding model.
 */
export const resumeReembedding = (tools: Tools) => upkeepTask(tools, "resume_reembedding");

/** Has webhooks sent again whose deliveries are late. */
export const sweepDeliveries = (tools: Tools) => upkeepTask(tools, "sweep_deliveries");
