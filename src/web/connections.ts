import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { performance } from "node:perf_hooks";
import { siteOf } from "../base/address.ts";

/**
 * Fair use of connections. A process has a limited number of them, which callers share by the site of their address:
 * when all are open, a new connection replaces one that waits for its client, of the site that has most. Behind a proxy
 * all connections are the proxy's, which then has to share them.
 */

/**
 * Only a site that has more than this part of all connections may lose one that owes an answer. Otherwise somebody with
 * one connection from each of many sites could end other callers' requests while they are carried out.
 */
const LARGE_PART = 1 / 64;

/**
 * A connection may have this many requests open. HTTP/1.1 clients send the next request when they have the answer, and
 * those that do not wait send few ahead. Node reads as many as arrive: thousands of short ones in one packet.
 */
const OPEN_REQUESTS = 32;

/** A client sends its first request at once. Browsers also open connections for requests that may come later. */
const SILENT_MS = 500;

/**
 * After an answer that ends a connection, the rest of the request's body is discarded, up to this time and size: the
 * largest body takes that long on a slow line. Many clients read the answer only when they have sent everything; a
 * connection that is closed earlier is reset, and the answer is lost.
 */
const LINGER_MS = 2_000;
const LINGER_BYTES = 2 * 1024 * 1024;
/** The interval at which the size of a discarded body is checked. */
const LINGER_CHECK_MS = 50;

/** Answers wait in memory until their client reads them. Their size is checked at this interval. */
const UNREAD_CHECK_MS = 1_000;

/**
 * Makes the connections of a server shared.
 * @param max how many connections may be open
 * @param maxUnread how many bytes of answers may wait until their clients read them
 * @returns the listener of requests to install instead of `listener`: it closes a connection that has too many open;
 * `stop`, after which answers say that their connections end; and `isCarryingOut`, which says whether a connection has a
 * request under way that has arrived whole
 */
export const shareConnections = (max: number, maxUnread: number, listener: RequestListener) => {
  /** The connections of each site. Sites and connections that have waited longest for their clients are first. */
  const sites = new Map<string, Set<Socket>>();
  const requests = new WeakMap<Socket, Set<ServerResponse>>();
  const siteOfSocket = new WeakMap<Socket, string>();
  /** How many bytes had arrived on a connection when the last answer that it owed was sent. */
  const read = new WeakMap<Socket, number>();
  const openedAt = new WeakMap<Socket, number>();
  /** A connection's latest request. */
  const latest = new WeakMap<Socket, IncomingMessage>();
  let open = 0;
  /** Whether the process stops. Each connection then ends with the last answer that it owes. */
  let stopping = false;
  /** Connections that had sent nothing when idle ones were looked for. */
  const wasSilent = new WeakSet<Socket>();
  /** The requests that wait (hold); null when none does. */
  let held: (() => void)[] | null = null;

  /** The bytes that wait for a connection's client. An answer has no socket until those before it are sent. */
  const unreadOf = (socket: Socket): number => {
    let bytes = socket.writableLength;
    for (const response of requests.get(socket) ?? []) if (response.socket === null) bytes += response.writableLength;
    return bytes;
  };

  /**
   * Closes connections whose clients do not read, if too much waits in all: the largest of the site for which most
   * waits. Otherwise a client may read as slowly as it likes.
   */
  const dropUnread = (): void => {
    const waiting = [...sites].map(([, sockets]) => {
      const unread = [...sockets].map((socket) => ({ socket, bytes: unreadOf(socket) }));
      return { unread, bytes: unread.reduce((sum, { bytes }) => sum + bytes, 0) };
    });
    let excess = waiting.reduce((sum, { bytes }) => sum + bytes, 0) - maxUnread;
    while (excess > 0) {
      const largest = waiting.reduce((one, other) => (other.bytes > one.bytes ? other : one));
      largest.unread.sort((one, other) => one.bytes - other.bytes);
      const { socket, bytes } = largest.unread.pop() ?? { bytes: excess };
      socket?.destroy();
      largest.bytes -= bytes;
      excess -= bytes;
    }
  };

  /** Whether a request of this connection that has arrived whole is not answered yet. It may be carried out already. */
  const isCarryingOut = (socket: Socket): boolean => [...(requests.get(socket) ?? [])].some(({ req }) => req.complete);

  /** The connection of a site that can be closed with least harm; undefined if it should keep all. */
  const leastOf = (sockets: ReadonlySet<Socket>, isLarge: boolean): Socket | undefined => {
    for (const socket of sockets) if (!isCarryingOut(socket)) return socket;
    return isLarge ? sockets.values().next().value : undefined;
  };

  /**
   * Closes a connection for a new one of the site `own`. The site that loses one has at least as many as `own` then has.
   * Returns false if there is none.
   */
  const makeRoom = (own: string): boolean => {
    const mine = (sites.get(own)?.size ?? 0) + 1;
    let most = mine - 1;
    let leaving: Socket | undefined;
    for (const sockets of sites.values()) {
      if (sockets.size <= most) continue;
      const least = leastOf(sockets, sockets.size > Math.max(mine, max * LARGE_PART));
      if (least === undefined) continue;
      leaving = least;
      most = sockets.size;
    }
    leaving?.destroy();
    return leaving !== undefined;
  };

  /** Puts a connection, and its site, behind all that have waited longer for their clients. */
  const putLast = (socket: Socket, site: string): void => {
    const sockets = sites.get(site) ?? new Set();
    sockets.delete(socket);
    sites.delete(site);
    sites.set(site, sockets.add(socket));
  };

  /** Ends a connection whose client still sends: the answer goes out, and what arrives is discarded for a while. */
  const linger = (socket: Socket): void => {
    const [until, lastByte] = [performance.now() + LINGER_MS, socket.bytesRead + LINGER_BYTES];
    socket.end();
    const timer = setInterval(() => {
      if (performance.now() > until || socket.bytesRead > lastByte) socket.destroy();
    }, LINGER_CHECK_MS).unref();
    socket.once("close", () => clearInterval(timer));
  };

  const connect = (socket: Socket): void => {
    const site = siteOf(socket.remoteAddress ?? "");
    if (open >= max && !makeRoom(site)) return void socket.destroy();
    putLast(socket, site);
    siteOfSocket.set(socket, site);
    openedAt.set(socket, performance.now());
    // Node calls it after a connection's last answer.
    const destroySoon = socket.destroySoon.bind(socket);
    socket.destroySoon = () => (latest.get(socket)?.complete === false ? linger(socket) : destroySoon());
    open += 1;
    socket.once("close", () => {
      open -= 1;
      const sockets = sites.get(site);
      sockets?.delete(socket);
      if (sockets?.size === 0) sites.delete(site);
    });
  };

  /**
   * Makes the last answer that a connection owes say `Connection: close`, so that its client sends the next request on
   * another connection. An earlier one must not say it: Node then closes the connection before the others are sent.
   */
  const announceEnd = (responses: ReadonlySet<ServerResponse>): void => {
    const last = [...responses].at(-1);
    for (const response of responses) if (!response.headersSent) response.shouldKeepAlive = response !== last;
  };

  const stop = (): void => {
    stopping = true;
    for (const sockets of sites.values()) for (const socket of sockets) announceEnd(requests.get(socket) ?? new Set());
  };

  /**
   * Closes the connections that owe no answer and on which no request has started to arrive. Node's own function also
   * closes those whose answer a slow client has not read yet.
   */
  const closeIdle = (): void => {
    const before = performance.now() - SILENT_MS;
    for (const sockets of sites.values())
      for (const socket of sockets) {
        // What a connection sent is read in the turn after the one that accepted it, which may have been long.
        const isSilent = socket.bytesRead === 0 && wasSilent.has(socket) && (openedAt.get(socket) ?? 0) < before;
        if (socket.bytesRead === 0) wasSilent.add(socket);
        const isAnswered = requests.get(socket)?.size === 0 && read.get(socket) === socket.bytesRead;
        if (isSilent || isAnswered) socket.destroy();
      }
  };

  const serveRequest = (request: IncomingMessage, response: ServerResponse<IncomingMessage>): void => {
    if (held !== null) return void held.push(() => serveRequest(request, response));
    const { socket } = request;
    const responses = requests.get(socket) ?? new Set();
    const before = [...responses].at(-1);
    // Its client knows that this connection carries no further request, and would get no answer to this one.
    if (before?.headersSent && !before.shouldKeepAlive) return;
    requests.set(socket, responses.add(response));
    latest.set(socket, request);
    response.once("close", () => {
      responses.delete(response);
      if (responses.size === 0) read.set(socket, socket.bytesRead);
      const site = siteOfSocket.get(socket);
      if (site !== undefined && !socket.destroyed) putLast(socket, site);
    });
    if (stopping) announceEnd(responses);
    if (responses.size > OPEN_REQUESTS) socket.destroy();
    if (!socket.destroyed) listener(request, response as Parameters<RequestListener>[1]);
  };

  const watch = (server: Server): void => {
    server.on("connection", connect);
    // Node calls it when the server closes, too.
    server.closeIdleConnections = closeIdle;
    const timer = setInterval(dropUnread, UNREAD_CHECK_MS).unref();
    server.once("close", () => clearInterval(timer));
  };

  /** Lets the requests that arrive wait until the returned function is called. */
  const hold = (): (() => void) => {
    held = [];
    return () => {
      const waiting = held ?? [];
      held = null;
      for (const serveNow of waiting) serveNow();
    };
  };

  return { listener: serveRequest, watch, stop, hold, isCarryingOut };
};
