import { isIP } from "node:net";
import type { Request } from "express";

/** The caller's address as the proxies that count say it, some of them with a port; else the socket's. */
export const addressOf = (request: Request): string => {
  const said = (request.ip ?? "").replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, "$1").replace(/^\[(.*)\](:\d+)?$/, "$1");
  return isIP(said) ? said : (request.socket.remoteAddress ?? "0.0.0.0");
};
