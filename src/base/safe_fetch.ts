import { type IncomingMessage, type RequestOptions, request } from "node:http";
import { request as requestSecurely } from "node:https";
import type { Socket } from "node:net";
import { useAgent as agentFor } from "request-filtering-agent";
import { lookupOutside } from "./lookup.ts";

/**
 * Requests to addresses that anybody may name. Redirects are not followed, and no connection is made to an address that
 * is not public. The address is judged when the connection is made, not by the name.
 */

/**
 * Sends a request. It ends in every case, though not in time: that is what `options.signal` is for.
 * @param options.anyAddress also addresses that are not public, for tests and closed networks
 * @param options.lookup resolves names, and what it finds is judged; default: lookupOutside, and the system where names
 * of a closed network have to be found
 * @param options.admit is asked when a connection is there and nothing was sent, with its address; false: send nothing
 * @returns the response as soon as its head is there, for the caller to read or to destroy
 * @throws an Error if none comes. Do not show its message to strangers: it would reveal what is in our network
 */
export const sendOutbound = (
  url: string,
  {
    anyAddress,
    body,
    lookup = anyAddress ? undefined : lookupOutside,
    admit,
    ...options
  }: RequestOptions & { anyAddress: boolean; body?: string; admit?: (address: string) => Promise<boolean> },
): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const agent = agentFor(url, { allowPrivateIPAddress: anyAddress, allowMetaIPAddress: anyAddress });
    const sent = (url.startsWith("https:") ? requestSecurely : request)(url, { ...options, lookup, agent });
    sent.on("response", resolve);
    // We never ask for another protocol. Without this listener, `101 Switching Protocols` only causes "close".
    sent.on("upgrade", (response, socket) => {
      socket.destroy();
      resolve(response);
    });
    sent.on("error", reject);
    // The last event of every request, so nothing can leave the promise open. After the others it changes nothing.
    sent.on("close", () => reject(new Error("The connection was closed before a response came.")));
    if (admit === undefined) return void sent.end(body);
    // The head leaves with the body.
    sent.once("socket", (socket: Socket) => {
      const connected = () =>
        admit(socket.remoteAddress ?? "").then(
          (isAdmitted) => (isAdmitted ? sent.end(body) : sent.destroy()),
          (error: Error) => sent.destroy(error),
        );
      if (socket.connecting) socket.once("connect", connected);
      else connected();
    });
  });
