import type { Task } from "graphile-worker";
import type { Tools } from "../task.ts";

const upkeepTask =
  (
    { call, log }: Tools,
    name:
      | "purge_keys"
      | "purge_sign_ins"
      | "purge_agents"
      | "keep_audit_partitions"
      | "sweep_submissions"
      | "resume_reembedding",
  ): Task =>
  async () => {
    const [count = 0] = await call<number>(name);
    if (count > 0) log.info({ count }, name);
  };

/** Forgets idempotency keys, answers and counted calls of more than 24 hours ago. */
export const purgeKeys = (tools: Tools) => upkeepTask(tools, "purge_keys");

/** Forgets attempts to sign in, sessions and verifications that are over. */
export const purgeSignIns = (tools: Tools) => upkeepTask(tools, "purge_sign_ins");

/** Forgets agents that nobody approved, 7 days after they were made or last did more than read. */
export const purgeAgents = (tools: Tools) => upkeepTask(tools, "purge_agents");
/** Makes the months of the audit log that come, and drops those that are over a year gone. */
export const keepAuditPartitions = (tools: Tools) => upkeepTask(tools, "keep_audit_partitions");

/** Frees keys of submissions that nobody reads any more, and has unread asks read again. */
export const sweepSubmissions = (tools: Tools) => upkeepTask(tools, "sweep_submissions");

/** Goes on with a change of the embedding model whose job failed for good, as when a provider is down for hours. */
export const resumeReembedding = (tools: Tools) => upkeepTask(tools, "resume_reembedding");
