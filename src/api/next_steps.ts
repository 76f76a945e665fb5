import type { Endpoint } from "./endpoint.ts";

/** Calls that a refusal names, as entries of its member `next`. */

type Step = { summary: string; method: string; path: string };

const stepOf = ({ summary, method, path }: Endpoint, id: unknown): Step => ({
  summary: `${summary}.`,
  method: method.toUpperCase(),
  path: typeof id === "string" ? path.replace("{id}", id) : path,
});

/**
 * Returns a call as an entry of `next`.
 * @param name its METHOD and path in the table
 * @param id what stands for {id} in the path; anything but a text leaves it as it is
 */
export const stepTo = (endpoints: readonly Endpoint[], name: string, id: unknown): Step => {
  const found = endpoints.find(({ method, path }) => `${method.toUpperCase()} ${path}` === name);
  if (found === undefined) throw new Error(`The table has no endpoint ${name}.`);
  return stepOf(found, id);
};

/** The most steps that a Problem has. */
const MOST = 10;

/**
 * Returns what a caller can do who sent a method that a path does not have: first what stands for that method, then the
 * calls of this path, then those of the paths below it.
 */
export const stepsAt = (endpoints: readonly Endpoint[], path: string, method: string, id: unknown): Step[] => {
  const there = endpoints.filter((one) => one.path === path || one.path.startsWith(`${path}/`));
  const rank = (one: Endpoint): number => {
    if (one.path === path && one.method === "patch" && /^(PUT|POST)$/.test(method)) return 0;
    if (one.insteadOf?.includes(method) || one.method.toUpperCase() === method) return 1;
    return one.path === path ? 2 : 3;
  };
  return there
    .toSorted((one, other) => rank(one) - rank(other))
    .slice(0, MOST)
    .map((one) => stepOf(one, id));
};
