import { promises as dns, type LookupAddress, type LookupOptions } from "node:dns";
import type { LookupFunction } from "node:net";

/**
 * The addresses of names that strangers choose, and whose nameservers they may run. dns.lookup would wait for them on
 * one of the process's few threads for lookups, for up to 20 seconds and even if nobody waits any more: a few names
 * that are never answered would keep the process from finding the database. This asks the nameservers without a thread.
 * It does not read /etc/hosts, whose names are ours.
 */

type Resolver = Pick<dns.Resolver, "resolve4" | "resolve6">;

/** How long one question waits at most. A nameserver that takes longer is down. */
const WAIT_MS = 2_000;

/**
 * A question waits only five times as long as the last answers took, and at least a quarter of a second; the next one
 * twice as long. So one question would be too few for a name that the nameserver itself has to ask others for.
 */
const TRIES = 3;

const isWanted = ({ family = 0 }: LookupOptions, one: 4 | 6): boolean =>
  family === 0 || family === one || family === `IPv${one}`;

const addressesOf = async (resolver: Resolver, name: string, options: LookupOptions): Promise<LookupAddress[]> => {
  const asOf = (family: 4 | 6) => (addresses: string[]) => addresses.map((address) => ({ address, family }));
  const answers = await Promise.allSettled([
    ...(isWanted(options, 4) ? [resolver.resolve4(name).then(asOf(4))] : []),
    ...(isWanted(options, 6) ? [resolver.resolve6(name).then(asOf(6))] : []),
  ]);
  const addresses = answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
  if (addresses.length > 0) return addresses;
  throw answers.find((answer) => answer.status === "rejected")?.reason;
};

/** Makes a function that is called as dns.lookup is. */
export const createLookup =
  (resolver: Resolver): LookupFunction =>
  (name, options, callback) =>
    void addressesOf(resolver, name, options).then(
      (found) => (options.all ? callback(null, found) : callback(null, found[0]?.address ?? "", found[0]?.family)),
      (error: NodeJS.ErrnoException) => callback(error, ""),
    );

/** Resolves names by the nameservers of this machine. */
export const lookupOutside = createLookup(new dns.Resolver({ timeout: WAIT_MS, maxTimeout: WAIT_MS, tries: TRIES }));
