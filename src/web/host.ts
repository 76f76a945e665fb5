import { isLoopbackHost } from "../base/address.ts";

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
