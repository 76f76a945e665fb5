import { type Problem, problem } from "../base/problem.ts";

/** Parameters of addresses and of forms, as anybody may send them. */

/** The most parameters in a query or a form. The largest form, with all agents of an account, has about thirty. */
const MAX_PARAMETERS = 50;

/** Returns why a query or the text of a form is refused that has too many parameters; undefined if it has not. */
export const excessOfParameters = (text: string): Problem | undefined =>
  // With a limit, no more of the text is split than that.
  text.split("&", MAX_PARAMETERS + 1).length > MAX_PARAMETERS
    ? problem("bad_request", `A request has at most ${MAX_PARAMETERS} parameters. Send only those that the call needs.`)
    : undefined;

/** Returns the first parameter that was sent twice, apart from those that may be; undefined if there is none. */
export const repeatedParameter = (parameters: URLSearchParams, ...repeatable: string[]): string | undefined => {
  const names = new Set<string>();
  for (const name of parameters.keys()) {
    if (names.has(name) && !repeatable.includes(name)) return name;
    names.add(name);
  }
  return undefined;
};
