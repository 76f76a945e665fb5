import { chmod, mkdir, mkdtemp, readFile, rm, rmdir, writeFile } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";

/**
 * The folder of the embedded database (DATA_DIR), and who uses it.
 *
 *   lock     the file whose lock the process holds that uses the folder. The file stays, and is always empty
 *   holder   the file that says which process that is. It is for people, and for removing what a killed process leaves
 *   sockets  a temporary folder with the Unix socket. It is not in DATA_DIR, because the path of a socket may have only
 *            about a hundred bytes, and not every volume can have sockets
 *
 * Only the user of the process can open the database's files and the folder of its socket.
 */
export type DataFolder = {
  /** The folder of PostgreSQL's files. */
  files: string;
  /** The folder for the Unix socket. */
  sockets: string;
  /** Removes the folder of the socket and the holder file, and lets another process use the folder. */
  release(): Promise<void>;
};

type Holder = { pid: number; host: string; since: string; sockets: string };

/** The name that PostgreSQL's clients expect in the folder of a socket. */
export const SOCKET = ".s.PGSQL.5432";

/** SQLite's result code for a lock that somebody else holds. */
const SQLITE_BUSY = 5;

/** The longest path of a Unix socket: 103 bytes on macOS, 107 on Linux. */
const SOCKET_PATH_BYTES = 103;

/** The folder of each Unix for all users' files. */
const SHARED_TEMPORARY = "/tmp";

/** Rights of a folder and of a file that only their owner may open. */
const OWNER_ONLY = { folder: 0o700, file: 0o600 };

/**
 * Takes the lock. It is a lock of the operating system: however a process ends, its lock ends with it. Neither process
 * ids (which are the same in two containers), clocks nor timeouts matter. Node offers such locks through SQLite only:
 * an exclusive transaction locks the file without writing to it.
 * @returns null if another process or thread holds the lock
 * @throws if the file system refuses the lock
 */
const takeLock = (file: string): DatabaseSync | null => {
  const lock = new DatabaseSync(file, { timeout: 0 });
  try {
    lock.exec("begin exclusive");
    return lock;
  } catch (error) {
    lock.close();
    if (error instanceof Error && "errcode" in error && error.errcode === SQLITE_BUSY) return null;
    throw error;
  }
};

const readHolder = async (file: string): Promise<Holder | null> => {
  const text = await readFile(file, "utf8").catch(() => "");
  // A killed process may leave half of the file.
  return /^\{.*\}$/.test(text) ? (JSON.parse(text) as Holder) : null;
};

/** Removes the folder of a socket. Does nothing if it does not exist, or if anything else is in it. */
const removeSockets = async (folder: string): Promise<void> => {
  await rm(join(folder, SOCKET), { force: true });
  await rmdir(folder).catch(() => undefined);
};

const makeSocketFolder = (): Promise<string> => {
  const usual = join(tmpdir(), "souk-");
  const longest = join(`${usual}123456`, SOCKET);
  return mkdtemp(Buffer.byteLength(longest) > SOCKET_PATH_BYTES ? join(SHARED_TEMPORARY, "souk-") : usual);
};

/**
 * Takes the folder for this process, because two PGlite instances on the same files would destroy them. Creates missing
 * folders.
 * @throws an Error that says what to do if another process uses the folder, or if it cannot be locked
 */
export const takeDataFolder = async (dataDir: string): Promise<DataFolder> => {
  const files = join(dataDir, "postgres");
  await mkdir(files, { recursive: true, mode: OWNER_ONLY.folder });
  const holderFile = join(dataDir, "holder.json");
  // SQLite would take a path that begins with "file:" for a URI.
  const lockFile = resolve(dataDir, "lock");
  let lock: DatabaseSync | null;
  try {
    lock = takeLock(lockFile);
  } catch (error) {
    throw new Error(
      `The database in ${dataDir} cannot be locked: ${String(error)}. Set DATA_DIR to a folder in which this user may write, on a file system with locks.`,
      { cause: error },
    );
  }
  const before = await readHolder(holderFile);
  if (lock === null) {
    const who = before
      ? `process ${before.pid} on host ${before.host}, since ${before.since}`
      : "it is just starting or stopping";
    throw new Error(
      `Another process uses the database in ${dataDir} (${who}). Stop it, or set DATA_DIR to another folder.`,
    );
  }
  // SQLite's file has the rights that the umask leaves, and any user who can open it can lock it.
  await chmod(files, OWNER_ONLY.folder);
  await chmod(lockFile, OWNER_ONLY.file);
  if (before) await removeSockets(before.sockets);
  const sockets = await makeSocketFolder();
  const holder: Holder = { pid: process.pid, host: hostname(), since: new Date().toISOString(), sockets };
  await writeFile(holderFile, JSON.stringify(holder));
  return {
    files,
    sockets,
    async release() {
      await removeSockets(sockets);
      await rm(holderFile, { force: true });
      lock.close();
    },
  };
};
