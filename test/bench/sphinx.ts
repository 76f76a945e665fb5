import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { freePort } from "../support/postgres.ts";

/** Searches by Sphinx (Debian's sphinxsearch): an index on disk, and searchd, which speaks the protocol of MySQL. */

const run = promisify(execFile);
const READY_TIMEOUT_MS = 30_000;
/** An answer takes milliseconds. A searchd that says nothing for so long has stopped accepting connections. */
const ANSWER_TIMEOUT_MS = 10_000;

/** A running searchd. */
type Sphinx = {
  /** Runs the statements in turn on so many connections. Returns the statements a second, and the rows of the first. */
  measure: (statements: string[], connections: number, seconds: number) => Promise<{ rate: number; found: number }>;
  stop: () => Promise<void>;
};

/**
 * What a client says to log in, without a password. The flags are: long passwords, protocol of 4.1, secure connection.
 */
const LOGIN = (() => {
  const payload = Buffer.alloc(32 + "bench\0".length + 1);
  payload.writeUInt32LE(0x1 | 0x200 | 0x8000, 0);
  payload.writeUInt32LE(0x0100_0000, 4);
  payload.writeUInt8(33, 8);
  payload.write("bench\0", 32);
  return payload;
})();

const packet = (sequence: number, payload: Buffer): Buffer => {
  const head = Buffer.alloc(4);
  head.writeUIntLE(payload.length, 0, 3);
  head.writeUInt8(sequence, 3);
  return Buffer.concat([head, payload]);
};

/** Runs statements one after the other on one connection until `end`. */
const runOne = (port: number, statements: string[], from: number, end: number) =>
  new Promise<{ done: number; found: number }>((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    socket.setNoDelay(true);
    let pending = Buffer.alloc(0);
    let state: "greeting" | "login" | "result" = "greeting";
    let ends = 0;
    let rows = 0;
    let done = 0;
    let found = 0;
    const next = () => {
      if (performance.now() >= end) {
        socket.destroy();
        return resolve({ done, found });
      }
      ends = 0;
      rows = 0;
      const statement = statements[(from + done) % statements.length] ?? "";
      socket.write(packet(0, Buffer.concat([Buffer.from([3]), Buffer.from(statement)])));
    };
    const receive = (payload: Buffer) => {
      if (payload[0] === 0xff) return reject(new Error(`Sphinx refused: ${payload.toString("utf8", 3)}`));
      if (state === "greeting") {
        state = "login";
        socket.write(packet(1, LOGIN));
      } else if (state === "login") {
        state = "result";
        next();
      } else if (payload[0] === 0xfe && payload.length < 9) {
        // One end after the columns, and one after the rows.
        ends += 1;
        if (ends < 2) return;
        if (done === 0) found = rows;
        done += 1;
        next();
      } else if (ends === 1) rows += 1;
    };
    socket.on("error", reject);
    socket.setTimeout(ANSWER_TIMEOUT_MS, () => socket.destroy(new Error("Sphinx does not answer.")));
    socket.on("data", (chunk) => {
      pending = Buffer.concat([pending, chunk]);
      while (pending.length >= 4) {
        const length = pending.readUIntLE(0, 3);
        if (pending.length < 4 + length) break;
        const payload = pending.subarray(4, 4 + length);
        pending = pending.subarray(4 + length);
        receive(payload);
      }
    });
  });

/**
 * Indexes the offers of a file and starts searchd. Returns null if Sphinx is not installed.
 * @param tsv lines of: id, title, text, domain, price, currency
 */
export const startSphinx = async (tsv: string, directory: string): Promise<Sphinx | null> => {
  const installed = await run("which", ["searchd", "indexer"]).then(
    () => true,
    () => false,
  );
  if (!installed) return null;
  const folder = join(directory, "sphinx");
  await mkdir(folder);
  const port = await freePort();
  const file = join(folder, "sphinx.conf");
  await writeFile(
    file,
    `source offers {
  type = tsvpipe
  tsvpipe_command = cat ${tsv}
  tsvpipe_field_string = title
  tsvpipe_field = text
  tsvpipe_attr_string = domain
  tsvpipe_attr_uint = price
  tsvpipe_attr_string = currency
}
index offers {
  source = offers
  path = ${folder}/offers
  morphology = stem_en
}
indexer {
  mem_limit = 512M
}
searchd {
  listen = 127.0.0.1:${port}:mysql41
  log = ${folder}/searchd.log
  pid_file = ${folder}/searchd.pid
  binlog_path =
  workers = threads
  listen_backlog = 128
}
`,
  );
  await run("indexer", ["--config", file, "--all", "--quiet"]);
  const child: ChildProcess = spawn("searchd", ["--config", file, "--nodetach"], { stdio: "ignore" });
  const abandon = () => void child.kill("SIGKILL");
  process.once("exit", abandon);
  const exited = once(child, "exit");
  const measure: Sphinx["measure"] = async (statements, connections, seconds) => {
    const start = performance.now();
    const all = await Promise.all(
      Array.from({ length: connections }, (_, n) => runOne(port, statements, n, start + seconds * 1000)),
    );
    const length = (performance.now() - start) / 1000;
    return { rate: all.reduce((sum, { done }) => sum + done, 0) / length, found: all[0]?.found ?? 0 };
  };
  const deadline = performance.now() + READY_TIMEOUT_MS;
  for (;;) {
    const answered = await measure(["select id from offers limit 1"], 1, 0.01).catch(() => null);
    if (answered !== null) break;
    if (performance.now() > deadline) throw new Error("searchd did not start.");
    await sleep(100);
  }
  return {
    measure,
    stop: async () => {
      child.kill("SIGTERM");
      await exited;
      process.removeListener("exit", abandon);
    },
  };
};
