import { isIP, isIPv6 } from "node:net";
import type { Request } from "express";

/** Returns the caller's IP address without a port: as a trusted proxy reports it, otherwise as the socket has it. */
export const addressOf = (request: Request): string => {
  const ip = (request.ip ?? "").replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, "$1").replace(/^\[(.*)\](:\d+)?$/, "$1");
  return isIP(ip) ? ip : (request.socket.remoteAddress ?? "0.0.0.0");
};

/** Returns the eight groups of an IPv6 address as hexadecimal numbers. */
const groupsOf = (address: string): string[] => {
  // A URL prints an address in its shortest form, without leading zeros and without dotted parts.
  const shortest = new URL(`http://[${address.replace(/%.*$/, "")}]`).hostname.slice(1, -1);
  const [head = [], tail = []] = shortest.split("::").map((part) => part.split(":").filter(Boolean));
  return [...head, ...Array<string>(8 - head.length - tail.length).fill("0"), ...tail];
};

/**
 * Returns the network of an address that counts as one address, as internal.network_of does: IPv4 /32, IPv6 /64. An
 * IPv4-mapped IPv6 address counts as its IPv4 address.
 */
export const networkOf = (address: string): string => {
  if (!isIPv6(address)) return address;
  const groups = groupsOf(address);
  if (groups.slice(0, 6).join(":") !== "0:0:0:0:0:ffff") return `${groups.slice(0, 4).join(":")}::/64`;
  const [high = 0, low = 0] = groups.slice(6).map((group) => Number.parseInt(group, 16));
  return [high >> 8, high & 255, low >> 8, low & 255].join(".");
};

/**
 * Returns the site of an address, within which one person easily changes it: IPv6 /48, as internal.site_of has it. An
 * IPv4 address is a site of its own, because neighbours often belong to different people.
 */
export const siteOf = (address: string): string => {
  const network = networkOf(address);
  return network.includes(":") ? `${network.split(":").slice(0, 3).join(":")}::/48` : network;
};

/** Whether an IP address, or the name or address of a host as a URL has it, is that of the machine itself. */
export const isLoopbackHost = (host: string): boolean => {
  const name = host.toLowerCase().replace(/^\[(.*)\]$/, "$1");
  if (name === "localhost" || name.endsWith(".localhost")) return true;
  if (isIPv6(name)) return name === "::1" || /^127\./.test(networkOf(name));
  return isIP(name) === 4 && name.startsWith("127.");
};

/** Returns the name in a Host header, without the port; an empty one if it names none. */
const nameIn = (host: string): string => URL.parse(`http://${host}`)?.hostname ?? "";

/**
 * Whether a request that names this host comes by a name that isn't this machine's, although the service is for its own
 * machine. Anybody's DNS can point a name at 127.0.0.1, and a browser then takes the pages at that name for one site with
 * the service (DNS rebinding).
 * @param host the header Host
 * @param baseUrl the service's address; empty until the process listens
 */
export const isForeignHost = (host: string, baseUrl: string): boolean => {
  if (baseUrl === "") return false;
  const base = new URL(baseUrl);
  return host !== base.host && isLoopbackHost(base.hostname) && !isLoopbackHost(nameIn(host));
};

/** The prefix of the paths of links on our pages, because the service may be below a path of its host. */
export const rootOf = (baseUrl: string): string => new URL(baseUrl).pathname.replace(/\/$/, "");
