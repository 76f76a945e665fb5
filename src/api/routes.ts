import { createHash } from "node:crypto";
import type { Request, RequestHandler, Response } from "express";
import { type Answer, problem } from "../base/problem.ts";
import { preflightAnswer } from "../web/cors.ts";
import { send } from "../web/send.ts";
import type { Context, Endpoint } from "./endpoint.ts";
import { handle } from "./handle.ts";
import { stepsAt } from "./next_steps.ts";

/** The router of the table of endpoints, and of /mcp. Express asks it once, and not path by path. */

const PUBLIC_CACHE = "public, max-age=300";

/** Returns a function that makes the ETag of a body, and remembers the last one. */
const etags = (): ((body: string) => string) => {
  let last = { body: "", etag: "" };
  return (body) => {
    if (body !== last.body)
      last = { body, etag: `"${createHash("sha256").update(body).digest("base64url").slice(0, 27)}"` };
    return last.etag;
  };
};

/** Returns a body with its ETag, or 304 if the client already has it. */
const cached = (request: Request, answer: Answer, etag: string): Answer => {
  const clientTags = request.headers["if-none-match"]?.split(",").map((tag) => tag.trim().replace(/^W\//, ""));
  const headers = { ETag: etag, "Cache-Control": PUBLIC_CACHE };
  return clientTags?.includes(etag) || clientTags?.includes("*")
    ? { status: 304, headers, body: null }
    : { ...answer, headers: { ...headers, ...answer.headers } };
};

/** Answers the requests to one path. `methods` are those of its path, if it is in the table. */
type Route = ((request: Request, response: Response) => Promise<Answer>) & { methods?: string };

/** Answers the requests to one path: the methods in the table, HEAD like GET, and 405 with Allow for all others. */
const routeOf = (context: Context, endpoints: Endpoint[]): Route => {
  const byMethod = new Map(endpoints.map((endpoint) => [endpoint.method.toUpperCase(), endpoint]));
  const get = byMethod.get("GET");
  if (get) byMethod.set("HEAD", get);
  const allow = [...byMethod.keys()].sort().join(", ");
  const etagOf = etags();
  const route: Route = async (request, response) => {
    const endpoint = byMethod.get(request.method);
    if (!endpoint) {
      const next = stepsAt(context.endpoints, endpoints[0]?.path ?? "", request.method, request.params["id"]);
      const [first] = next;
      const way = first === undefined ? "" : ` ${first.summary.slice(0, -1)}: ${first.method} ${first.path}.`;
      throw problem("method_not_allowed", `This path has only: ${allow}.${way}`, { next }, { Allow: allow });
    }
    response.locals["operation"] = endpoint.operationId;
    response.locals["endpoint"] = true;
    const answer = await handle(context, endpoint, request, response);
    if (endpoint.cache === "public" && typeof answer.body === "string")
      return cached(request, answer, etagOf(answer.body));
    return { ...answer, headers: { "Cache-Control": "no-store", ...answer.headers } };
  };
  return Object.assign(route, { methods: allow });
};

/** A node of the tree of paths: its route, and what may follow. */
type Node = { route?: Route; named: Map<string, Node>; parameter?: { name: string; node: Node } };

const newNode = (): Node => ({ named: new Map() });

/** Adds a path such as /v1/offers/{id} to a tree. */
const addPath = (root: Node, path: string, route: Route): void => {
  let node = root;
  for (const segment of path.slice(1).split("/")) {
    const [, name] = /^\{(\w+)\}$/.exec(segment) ?? [];
    let next = name === undefined ? node.named.get(segment) : node.parameter?.node;
    if (next === undefined) {
      next = newNode();
      if (name === undefined) node.named.set(segment, next);
      else node.parameter = { name, node: next };
    }
    node = next;
  }
  node.route = route;
};

/**
 * Finds the route for the segments from `at`, and notes the parameters on its path. A name comes before a parameter.
 * @throws URIError if a parameter cannot be decoded
 */
const findRoute = (
  { route, named, parameter }: Node,
  segments: readonly string[],
  at: number,
  parameters: Request["params"],
): Route | undefined => {
  const segment = segments[at];
  if (segment === undefined) return route;
  const next = named.get(segment);
  const found = next && findRoute(next, segments, at + 1, parameters);
  if (found || parameter === undefined || segment === "") return found;
  const below = findRoute(parameter.node, segments, at + 1, parameters);
  if (below) parameters[parameter.name] = segment.includes("%") ? decodeURIComponent(segment) : segment;
  return below;
};

/**
 * Makes the handler of the table of endpoints and of `others`. All other paths pass through.
 * @param options.enter lets a request wait for its turn
 * @param options.fail answers a request that cannot be answered
 * @param options.others the routes of paths that are not in the table
 */
export const routes = (
  context: Context,
  options: {
    enter: (request: Request) => Promise<void>;
    fail: (error: unknown, request: Request, response: Response) => void;
    others: Readonly<Record<string, Route>>;
  },
): RequestHandler => {
  const root = newNode();
  for (const [path, endpoints] of Map.groupBy(context.endpoints, (endpoint) => endpoint.path))
    addPath(root, path, routeOf(context, endpoints));
  for (const [path, route] of Object.entries(options.others)) addPath(root, path, route);
  return async (request, response, next) => {
    const segments = request.path.split("/");
    // The path may end with a slash.
    if (segments.at(-1) === "") segments.pop();
    const route = findRoute(root, segments, 1, request.params);
    // It waits for no turn and counts in no limit, so that a page learns why its call itself is refused.
    const preflight = preflightAnswer(request, route?.methods);
    if (preflight) return send(request, response, preflight);
    if (route === undefined) return next();
    await options.enter(request);
    try {
      send(request, response, await route(request, response));
    } catch (error) {
      options.fail(error, request, response);
    }
  };
};
