import { legacy, modern } from "../http/mcp.ts";
import type { Cluster } from "../support/postgres.ts";
import { quantile, rawRequest, runLoad } from "./load.ts";
import { processorTimeOf, processTimeOf, type Service } from "./service.ts";

/** `npm run bench -- --tools`: what a tool call at /mcp costs beside the REST call that does the same. */

/** A tool call, as clients of each revision of the protocol send it. */
export type ToolCall = { name: string; args: Record<string, unknown> };

const REVISIONS = { "2026": modern, "2025": legacy };

/** Returns a tool call as a raw HTTP request. */
const requestOf = (revision: keyof typeof REVISIONS, token: string, { name, args }: ToolCall): string => {
  const { headers, body } = REVISIONS[revision]("tools/call", { name, arguments: args });
  return rawRequest("POST", "/mcp", { ...headers, Authorization: `Bearer ${token}` }, body);
};

/** Returns tool calls as raw HTTP requests of each revision. */
export const toolRequests = (token: string, call: ToolCall): Record<keyof typeof REVISIONS, string> => ({
  "2026": requestOf("2026", token, call),
  "2025": requestOf("2025", token, call),
});

/** A kind of request with the same variants as tool calls, if it has any. */
type Compared = { name: string; requests: string[]; tools?: ReturnType<typeof toolRequests>[] };

/**
 * What one call of one side costs: its median time in milliseconds, for one caller alone, and the processor time in
 * milliseconds under load, in the process of the API and together with the database.
 */
type Side = { p50: number; api: number; all: number };

const middle = (values: readonly number[]): number =>
  values.toSorted((one, other) => one - other)[values.length >> 1] ?? Number.NaN;

/**
 * Measures the scenarios that have tools: REST and each revision in turns, so that other work on the machine affects all.
 * @returns for each scenario, REST and the revisions in this order
 */
export const measureTools = async (
  cluster: Cluster,
  service: Service,
  scenarios: readonly Compared[],
  { connections, seconds, rounds }: { connections: number; seconds: number; rounds: number },
): Promise<{ name: string; sides: Side[] }[]> => {
  const { port } = service;
  const measure = async (requests: string[]): Promise<Side> => {
    const alone = await runLoad({ port, requests, connections: 1, seconds });
    const [api, all] = [processTimeOf(service.api), await processorTimeOf(cluster, service)];
    const calls = (await runLoad({ port, requests, connections, seconds })).milliseconds.length;
    return {
      p50: quantile(alone.milliseconds.toSorted()),
      api: (processTimeOf(service.api) - api) / calls,
      all: ((await processorTimeOf(cluster, service)) - all) / calls,
    };
  };
  const rows = [];
  for (const { name, requests, tools } of scenarios) {
    if (tools === undefined) continue;
    const kinds = [requests, tools.map((tool) => tool["2026"]), tools.map((tool) => tool["2025"])];
    const found = kinds.map((): Side[] => []);
    for (let round = 0; round <= rounds; round++) {
      for (const [k, kind] of kinds.entries()) {
        const side = await measure(kind);
        // The first round prepares statements, compiles code and reads pages.
        if (round > 0) found[k]?.push(side);
      }
    }
    const sides = found.map((side) => ({
      p50: middle(side.map(({ p50 }) => p50)),
      api: middle(side.map(({ api }) => api)),
      all: middle(side.map(({ all }) => all)),
    }));
    rows.push({ name, sides });
  }
  return rows;
};
