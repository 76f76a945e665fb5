import type { Task } from "graphile-worker";
import type { Tools } from "../task.ts";

const clockwork =
  ({ query, log }: Tools, name: "forget_keys" | "sweep_submissions" | "resume_reembedding"): Task =>
  async () => {
    const { rows } = await query<{ count: number }>(`select jobs.${name}() as count`, []);
    const count = rows[0]?.count ?? 0;
    if (count > 0) log.info({ count }, name);
  };

/** Forgets idempotency keys, answers and counted calls of more than 24 hours ago. */
export const forgetKeys = (tools: Tools) => clockwork(tools, "forget_keys");

/** Frees keys of submissions that nobody reads any more, and has unread asks read again. */
export const sweepSubmissions = (tools: Tools) => clockwork(tools, "sweep_submissions");

/** Goes on with a change of the embedding model whose job failed for good, as when a provider is down for hours. */
export const resumeReembedding = (tools: Tools) => clockwork(tools, "resume_reembedding");
