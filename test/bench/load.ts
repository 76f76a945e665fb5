import { fork } from "node:child_process";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { performance } from "node:perf_hooks";
import { fileURLToPath } from "node:url";

/**
 * The load generator: a separate process that keeps connections busy, with one request at a time on each.
 *
 * It reads just enough of a response to know its status and its end. Node's own HTTP client would take as much
 * processor time as the measured service, on the same machine.
 *
 *   flood   a job that counts refusals and goes on, as a hostile client does
 *   other   one more connection, of another caller, which is measured during a flood. `overtaken` says for each of its
 *           calls how many of the flood's calls were answered meanwhile. Unlike a time, this does not depend on what else
 *           the machine does
 */

/** The requests to send, to a port of 127.0.0.1. */
export type Job = {
  port: number;
  /** Complete requests as bytes on the wire, sent in turn. */
  requests: string[];
  connections: number;
  /** Stops after so many seconds, or after `count` requests. */
  seconds?: number;
  count?: number;
  /** Counts refusals and goes on. Otherwise the first refusal ends the job. */
  flood?: true;
  /** The request of the other caller. */
  other?: string;
};
/** The duration of a job, the time of each request, how many responses had each status, and the first failure. */
export type Result = {
  seconds: number;
  milliseconds: Float64Array;
  statuses: Record<string, number>;
  other: { milliseconds: Float64Array; overtaken: Float64Array };
  failure: string | null;
};

const HEAD_END = Buffer.from("\r\n\r\n");
/** The other caller begins so much later than the flood: all connections of the flood are open. */
const LEAD_MS = 1_000;
/** Longer than the heads of our responses. */
const HEAD_LENGTH = 2_048;
const CLOSE = /\r\nconnection: close\r\n/i;

/** Returns the length of a response's head and body in bytes, or undefined until the head is complete. */
const lengthOf = (bytes: Buffer): number | undefined => {
  const end = bytes.indexOf(HEAD_END);
  if (end < 0) return undefined;
  const length = /\r\ncontent-length: (\d+)/i.exec(bytes.toString("latin1", 0, end))?.[1];
  if (length === undefined) throw new Error(`An answer without Content-Length: ${bytes.toString("utf8", 0, end)}`);
  return end + HEAD_END.length + Number(length);
};

const run = (job: Job): Promise<Result> =>
  new Promise((resolve) => {
    const requests = job.requests.map((text) => Buffer.from(text));
    const milliseconds: number[] = [];
    const statuses: Record<string, number> = {};
    const other = { milliseconds: [] as number[], overtaken: [] as number[] };
    const started = performance.now();
    const end = started + (job.seconds ?? Number.POSITIVE_INFINITY) * 1000 + (job.other === undefined ? 0 : LEAD_MS);
    const most = job.count ?? Number.POSITIVE_INFINITY;
    let sent = 0;
    let open = job.connections + (job.other === undefined ? 0 : 1);
    let failure: string | null = null;

    const close = (socket: Socket) => {
      socket.destroy();
      open -= 1;
      if (open > 0) return;
      const seconds = (performance.now() - started) / 1000;
      resolve({
        seconds,
        milliseconds: Float64Array.from(milliseconds),
        statuses,
        other: {
          milliseconds: Float64Array.from(other.milliseconds),
          overtaken: Float64Array.from(other.overtaken),
        },
        failure,
      });
    };
    const fail = (socket: Socket, why: string) => {
      failure ??= why;
      close(socket);
    };

    const begin = (own?: Buffer): void => {
      const socket = connect(job.port, "127.0.0.1");
      socket.setNoDelay(true);
      let received: Buffer[] = [];
      let size = 0;
      let wanted: number | undefined;
      let since = 0;
      let answered = 0;
      const next = () => {
        since = performance.now();
        answered = milliseconds.length;
        const request = own ?? requests[sent % requests.length];
        if (since >= end || sent >= most || failure !== null || request === undefined) return close(socket);
        if (own === undefined) sent += 1;
        socket.write(request);
      };
      socket.on("connect", next);
      socket.on("error", (error) => fail(socket, error.message));
      socket.on("data", (chunk) => {
        received.push(chunk);
        size += chunk.length;
        wanted ??= lengthOf(received.length === 1 ? chunk : Buffer.concat(received));
        if (wanted === undefined || size < wanted) return;
        const time = performance.now() - since;
        const head = received[0]?.toString("latin1", 0, HEAD_LENGTH) ?? "";
        const status = head.slice(9, 12);
        if (own === undefined) {
          milliseconds.push(time);
          statuses[status] = (statuses[status] ?? 0) + 1;
        } else {
          other.milliseconds.push(time);
          other.overtaken.push(milliseconds.length - answered);
        }
        if (!status.startsWith("2") && (job.flood === undefined || own !== undefined))
          return fail(socket, Buffer.concat(received).toString("utf8"));
        received = [];
        size = 0;
        wanted = undefined;
        if (!CLOSE.test(head)) return next();
        socket.destroy();
        begin(own);
      });
    };
    for (let i = 0; i < job.connections; i++) begin();
    const { other: measured } = job;
    if (measured !== undefined) setTimeout(() => begin(Buffer.from(measured)), LEAD_MS);
  });

/** Returns a request as bytes on the wire. A body is sent as JSON. */
export const rawRequest = (method: string, path: string, headers: Record<string, string>, body?: unknown): string => {
  const payload = body === undefined ? "" : JSON.stringify(body);
  const head = [`${method} ${path} HTTP/1.1`, "Host: 127.0.0.1"];
  for (const [name, value] of Object.entries(headers)) head.push(`${name}: ${value}`);
  if (payload) head.push("Content-Type: application/json", `Content-Length: ${Buffer.byteLength(payload)}`);
  return `${head.join("\r\n")}\r\n\r\n${payload}`;
};

/** Runs a job in a process of its own. @throws an Error with the first failure */
export const runLoad = async (job: Job): Promise<Result> => {
  const child = fork(fileURLToPath(import.meta.url), { serialization: "advanced", execArgv: [] });
  child.send(job);
  const [result] = (await once(child, "message")) as [Result];
  if (result.failure !== null) throw new Error(`A request failed: ${result.failure}`);
  return result;
};

/** Returns the median of sorted values, or another quantile. */
export const quantile = (sorted: Float64Array, share = 0.5): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;

if (process.send && process.argv[1] === fileURLToPath(import.meta.url)) {
  process.once("message", async (job: Job) => {
    const result = await run(job);
    process.send?.(result, () => process.disconnect());
  });
}
