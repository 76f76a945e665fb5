import type { Endpoint } from "../../api/endpoint.ts";
import type { Sent } from "../../api/handle.ts";
import { type FieldError, pathsOf, unknownMembers } from "../../api/members.ts";
import { argumentsFor, type BoundTool, KEY_ARGUMENT } from "./definitions.ts";

/** Turns the arguments of a tool into a call of an endpoint. */

/** The arguments of a call. None of them is null. */
type Given = Readonly<Record<string, unknown>>;

const pick = (args: Given, names: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(names.filter((name) => Object.hasOwn(args, name)).map((name) => [name, args[name]]));

/** Stands for a value that a URL cannot have. No parameter accepts it. */
const NO_TEXT = "[object]";

/** Values are sent as in a URL. */
const queryOf = (args: Given, names: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(pick(args, names)).map(([name, value]) => [
      name,
      typeof value === "object" ? NO_TEXT : String(value),
    ]),
  );

const errorOf = (argument: string, detail: string): FieldError => ({ pointer: `/${argument}`, detail });

/** Chooses the endpoint by the argument that stands for its id, of which one is sent. */
const chooseById = (
  { main, choices, ids = {} }: BoundTool,
  args: Given,
): { endpoint: Endpoint; errors: FieldError[] } => {
  const [name, ...more] = Object.keys(ids).filter((argument) => Object.hasOwn(args, argument));
  const endpoint = name === undefined ? undefined : choices.get(name);
  if (endpoint && more.length === 0) return { endpoint, errors: [] };
  const names = Object.keys(ids).join(" or ");
  return {
    endpoint: main,
    errors: [errorOf(name ?? Object.keys(ids)[0] ?? "", `Send one of them: ${names}.`)],
  };
};

/**
 * Chooses the endpoint of a call. If the arguments do not say which, it is one that does not read the other arguments,
 * with an error.
 */
const chooseEndpoint = (tool: BoundTool, args: Given): { endpoint: Endpoint; errors: FieldError[] } => {
  const { main, choices, select, ids } = tool;
  if (ids) return chooseById(tool, args);
  if (!select) return { endpoint: main, errors: [] };
  const { argument } = select;
  const [first = main] = choices.values();
  const failing = (detail: string) => ({ endpoint: first, errors: [errorOf(argument, detail)] });
  const hasDefault = tool.endpoint !== undefined;
  const others = hasDefault ? argumentsFor(tool, main).body : [];
  const sent = others.filter((name) => Object.hasOwn(args, name));
  const choice = args[argument];
  if (choice === undefined && !hasDefault)
    return failing(`The member ${argument} is missing. It is one of: ${[...choices.keys()].join(", ")}.`);
  if (choice === undefined && sent.length > 0) return { endpoint: main, errors: [] };
  if (choice === undefined) return failing(`Send what to change: ${others.join(", ")} or ${argument}.`);
  const endpoint = typeof choice === "string" ? choices.get(choice) : undefined;
  if (!endpoint) return failing(`The member ${argument} must be one of: ${[...choices.keys()].join(", ")}.`);
  // Each of them is a change of its own in the database, so one could succeed and the other fail.
  if (sent.length > 0)
    return failing(
      `One call changes either ${argument} or ${others.join(" and ")}, and nothing was done. Send two calls: first without ${argument}, and when that has succeeded, with ${argument} alone.`,
    );
  return { endpoint, errors: [] };
};

/** Returns the paths of all arguments of a tool for an endpoint. */
const knownArguments = (tool: BoundTool, endpoint: Endpoint): (readonly string[])[] => {
  const { path, query, body } = argumentsFor(tool, endpoint);
  const ids = [tool.id, ...Object.keys(tool.ids ?? {}), ...path];
  const alone = [...ids, tool.select?.argument, endpoint.idempotent && KEY_ARGUMENT, ...query];
  return [
    ...alone.flatMap((name) => (name ? [[name]] : [])),
    ...(endpoint.body ? pathsOf(endpoint.body.schema).filter(([first = ""]) => body.includes(first)) : []),
  ];
};

/** Returns an argument that stands in the path, and adds an error if it is missing. */
const pathValue = (args: Given, name: string, errors: FieldError[]): unknown => {
  const value = args[name];
  if (typeof value !== "string")
    errors.unshift(
      errorOf(name, value === undefined ? `The member ${name} is missing.` : `The member ${name} must be text.`),
    );
  return value;
};

/** Returns the endpoint that a call of a tool is for, and what it sends there. Unknown arguments are ignored, as by REST. */
export const callOf = (tool: BoundTool, args: Given): { endpoint: Endpoint; sent: Sent } => {
  const { endpoint, errors } = chooseEndpoint(tool, args);
  const { path, query, body } = argumentsFor(tool, endpoint);
  const idName = tool.id ?? Object.keys(tool.ids ?? {}).find((name) => Object.hasOwn(args, name));
  const names = [...path.map((name) => [name, name] as const), ...(idName ? [["id", idName] as const] : [])];
  return {
    endpoint,
    sent: {
      path: Object.fromEntries(names.map(([name, argument]) => [name, pathValue(args, argument, errors)])),
      body: endpoint.body ? pick(args, body) : undefined,
      query: queryOf(args, query),
      idempotencyKey: args[KEY_ARGUMENT],
      errors,
      unknown: unknownMembers(args, knownArguments(tool, tool.main), tool.main.elsewhere),
    },
  };
};
