import { legacy, modern } from "../http/mcp.ts";
import { quantile, rawRequest, runLoad } from "./load.ts";

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

/** The times of one side, in milliseconds, and its calls a second. */
type Side = { p50: number; rate: number };

const middle = (values: readonly number[]): number =>
  values.toSorted((one, other) => one - other)[values.length >> 1] ?? Number.NaN;

/**
 * Measures the scenarios that have tools: REST and each revision in turns, so that other work on the machine affects all.
 * @returns for each scenario and number of connections, REST and the revisions in this order
 */
export const measureTools = async (
  port: number,
  scenarios: readonly Compared[],
  { connections, seconds, rounds }: { connections: readonly number[]; seconds: number; rounds: number },
): Promise<{ name: string; connections: number; sides: Side[] }[]> => {
  const rows = [];
  for (const { name, requests, tools } of scenarios) {
    if (tools === undefined) continue;
    const kinds = [requests, tools.map((tool) => tool["2026"]), tools.map((tool) => tool["2025"])];
    for (const open of connections) {
      const found = kinds.map((): Side[] => []);
      for (let round = 0; round <= rounds; round++) {
        for (const [k, kind] of kinds.entries()) {
          const { milliseconds, seconds: took } = await runLoad({ port, requests: kind, connections: open, seconds });
          // The first round prepares statements, compiles code and reads pages.
          if (round > 0) found[k]?.push({ p50: quantile(milliseconds.toSorted()), rate: milliseconds.length / took });
        }
      }
      const sides = found.map((side) => ({
        p50: middle(side.map(({ p50 }) => p50)),
        rate: middle(side.map(({ rate }) => rate)),
      }));
      rows.push({ name, connections: open, sides });
    }
  }
  return rows;
};
