import { type AddressInfo, createServer, type Server, type Socket } from "node:net";

/** Servers of tests, also such as speak HTTP as no HTTP library would. */

/** The part of ava's `t` that registers a clean-up. */
type Teardown = { teardown: (clean: () => Promise<void>) => void };

/** Lets a server listen until the test ends. Returns its port. */
export const listenOn = async (
  t: Teardown,
  server: Server & { closeAllConnections?: () => void },
  host = "127.0.0.1",
): Promise<number> => {
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  t.teardown(async () => {
    server.closeAllConnections?.();
    await new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
};

/**
 * Listens for connections until the test ends.
 * @param answer gets each connection when its first bytes are there
 * @returns the port, at 127.0.0.1
 */
export const serveRaw = async (t: Teardown, answer: (socket: Socket) => void): Promise<number> => {
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.on("error", () => undefined);
    socket.once("close", () => open.delete(socket));
    socket.once("data", () => answer(socket));
  });
  return listenOn(
    t,
    Object.assign(server, { closeAllConnections: () => open.forEach((socket) => void socket.destroy()) }),
  );
};

/** An answer that makes the connection one of another protocol, which nobody asked for. */
export const SWITCHING = "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: other\r\n\r\n";
