import { isIP } from "node:net";
import type { Request } from "express";

/** Returns the caller's IP address: from the trusted proxies (without a port), otherwise that of the socket. */
export const addressOf = (request: Request): string => {
  const said = (request.ip ?? "").replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, "$1").replace(/^\[(.*)\](:\d+)?$/, "$1");
  return isIP(said) ? said : (request.socket.remoteAddress ?? "0.0.0.0");
};
