import { isIP } from "node:net";
import type { Request } from "express";

/** Returns the caller's IP address without a port: as a trusted proxy reports it, otherwise as the socket has it. */
export const addressOf = (request: Request): string => {
  const said = (request.ip ?? "").replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, "$1").replace(/^\[(.*)\](:\d+)?$/, "$1");
  return isIP(said) ? said : (request.socket.remoteAddress ?? "0.0.0.0");
};
