import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { networkOf } from "./address.ts";

/**
 * Fair use of connections. A process has a limited number of them, which callers share by the network of their address:
 * when all are open, a new connection takes the place of one of the network that has most. Behind a proxy all
 * connections are the proxy's, which then has to share them.
 */

/**
 * A connection may have so many requests open. HTTP/1.1 clients send the next request when they have the answer, and
 * those that do not wait send few ahead. Node reads as many as arrive: thousands of short ones in one packet.
 */
const OPEN_REQUESTS = 32;

/**
 * Makes the connections of a server shared.
 * @param most how many connections may be open
 * @returns the listener of requests to install instead of `listener`: it closes a connection that has too many open
 */
export const shareConnections = (most: number, listener: RequestListener) => {
  const networks = new Map<string, Set<Socket>>();
  const requests = new WeakMap<Socket, number>();
  let open = 0;

  /** Closes a connection of the network that has most, an idle one if there is any. Returns false if that is `own`. */
  const makeRoom = (own: string): boolean => {
    let largest: Set<Socket> | undefined = networks.get(own);
    for (const sockets of networks.values()) if (sockets.size > (largest?.size ?? 0)) largest = sockets;
    if (largest === undefined || largest === networks.get(own)) return false;
    const [first] = largest;
    const idle = [...largest].find((socket) => (requests.get(socket) ?? 0) === 0);
    const leaving = idle ?? first;
    leaving?.destroy();
    return leaving !== undefined;
  };

  const connect = (socket: Socket): void => {
    const network = networkOf(socket.remoteAddress ?? "");
    if (open >= most && !makeRoom(network)) return void socket.destroy();
    const sockets = networks.get(network) ?? new Set();
    networks.set(network, sockets.add(socket));
    open += 1;
    socket.once("close", () => {
      open -= 1;
      sockets.delete(socket);
      if (sockets.size === 0) networks.delete(network);
    });
  };

  const serveRequest = (request: IncomingMessage, response: ServerResponse<IncomingMessage>): void => {
    const { socket } = request;
    const count = (requests.get(socket) ?? 0) + 1;
    requests.set(socket, count);
    response.once("close", () => requests.set(socket, (requests.get(socket) ?? 1) - 1));
    if (count > OPEN_REQUESTS) socket.destroy();
    if (!socket.destroyed) listener(request, response as Parameters<RequestListener>[1]);
  };

  return { listener: serveRequest, watch: (server: Server) => void server.on("connection", connect) };
};
