import { connect, type Socket } from "node:net";
import { performance } from "node:perf_hooks";

/**
 * The load generator: a separate process that keeps connections busy, with one request at a time on each.
 *
 * It reads just enough of a response to know its status and its end. Node's own HTTP client would take as much
 * processor time as the measured service, on the same machine.
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
};
/** The duration of a job, the time of each request, and the first failure. */
export type Result = { seconds: number; milliseconds: Float64Array; failure: string | null };

const HEAD_END = Buffer.from("\r\n\r\n");

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
    const sockets: Socket[] = [];
    const started = performance.now();
    const end = started + (job.seconds ?? Number.POSITIVE_INFINITY) * 1000;
    const most = job.count ?? Number.POSITIVE_INFINITY;
    let sent = 0;
    let open = job.connections;
    let failure: string | null = null;

    const close = (socket: Socket) => {
      socket.destroy();
      open -= 1;
      if (open > 0) return;
      const seconds = (performance.now() - started) / 1000;
      resolve({ seconds, milliseconds: Float64Array.from(milliseconds), failure });
    };
    const fail = (socket: Socket, why: string) => {
      failure ??= why;
      close(socket);
    };

    for (let i = 0; i < job.connections; i++) {
      const socket = connect(job.port, "127.0.0.1");
      sockets.push(socket);
      socket.setNoDelay(true);
      let received: Buffer[] = [];
      let size = 0;
      let wanted: number | undefined;
      let since = 0;
      const next = () => {
        since = performance.now();
        const request = requests[sent % requests.length];
        if (since >= end || sent >= most || failure !== null || request === undefined) return close(socket);
        sent += 1;
        socket.write(request);
      };
      socket.on("connect", next);
      socket.on("error", (error) => fail(socket, error.message));
      socket.on("data", (chunk) => {
        received.push(chunk);
        size += chunk.length;
        wanted ??= lengthOf(received.length === 1 ? chunk : Buffer.concat(received));
        if (wanted === undefined || size < wanted) return;
        milliseconds.push(performance.now() - since);
        const status = received[0]?.toString("latin1", 9, 12);
        if (!status?.startsWith("2")) return fail(socket, Buffer.concat(received).toString("utf8"));
        received = [];
        size = 0;
        wanted = undefined;
        next();
      });
    }
  });

process.once("message", async (job: Job) => {
  const result = await run(job);
  process.send?.(result, () => process.disconnect());
});
