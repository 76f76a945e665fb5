import { type AddressInfo, createServer, type Socket } from "node:net";

/** Servers that speak HTTP as no HTTP library would. */

/** The part of ava's `t` that registers a clean-up. */
type Teardown = { teardown: (clean: () => Promise<void>) => void };

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
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(async () => {
    for (const socket of open) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
};

/** An answer that makes the connection one of another protocol, which nobody asked for. */
export const SWITCHING = "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: other\r\n\r\n";
