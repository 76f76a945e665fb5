import {
  createMcpHandler,
  INVALID_PARAMS,
  INVALID_REQUEST,
  PARSE_ERROR,
  ProtocolError,
  Server,
} from "@modelcontextprotocol/server";
import type { Request, Response } from "express";
import { SERVICE } from "../../api/discovery.ts";
import { ANY_BODY, type Context } from "../../api/endpoint.ts";
import { admit, handle } from "../../api/handle.ts";
import { logFailure } from "../../base/log.ts";
import { type Answer, PROBLEMS, type Problem, problem, problemAnswer, problemOf } from "../../base/problem.ts";
import { currentRequest, currentRequestId } from "../../base/request.ts";
import { isBrowser } from "../../pages/frame.ts";
import { authenticate } from "../../web/authenticate.ts";
import { parseJson, readText, tooLarge, withoutNulls } from "../../web/body.ts";
import { callOf } from "./call.ts";
import { type BoundTool, bindTools, definitionOf, endpointName } from "./definitions.ts";
import { fastRequestOf, framesFor } from "./fast_path.ts";
import { answerOf, problemText, resultOf, type Said } from "./results.ts";
import { INSTRUCTIONS } from "./tools.ts";

/**
 * POST /mcp: the market for assistants that speak the Model Context Protocol, over Streamable HTTP without sessions. The
 * SDK speaks the protocol, in the revision 2026-07-28 and those of 2025. A tool calls an endpoint of the table as an HTTP
 * request would (src/api/handle.ts), so the same rules hold.
 */

/** One HTTP request, and what its tool adds to the response. */
type Exchange = {
  request: Request;
  response: Response;
  /** The size of the body. An endpoint's limit applies to all of it, because it is nearly all arguments. */
  bytes: number;
  /** Headers of the endpoint's answer that a client reads. */
  headers: Answer["headers"];
  /** Set if the database does not know the token. A client signs in again only after the HTTP status 401. */
  unauthorized?: Problem;
};

/** JSON-RPC leaves these codes to the server. The specification of MCP uses this one for refusals of its transport. */
const REFUSED = -32_000;

/** The list of tools changes only with a release, so clients may keep it as long as the documents of the API. */
const LIST_KEPT = { ttlMs: 300_000, cacheScope: "public" } as const;

/** How the service describes itself in each answer. */
const ABOUT = { name: "souk", title: SERVICE.title, version: SERVICE.version };

/** The headers that the SDK reads, besides Accept. */
const READ_HEADERS = ["content-type", "mcp-protocol-version", "mcp-method", "mcp-name"];
/** The SDK refuses other values of Accept. Many clients send others, or none, and read JSON all the same. */
const ACCEPT = "application/json, text/event-stream";

/** An answer that is one event of a stream, as the SDK answers clients of 2025. */
const ONLY_EVENT = /^event: message\ndata: (.*)\n\n$/;

/** The headers of an endpoint's answer that also concern the client of a tool. */
const PASSED_ON = /^(RateLimit-|Idempotency-Replayed$)/;

/** Returns the answer to a request that has no JSON-RPC answer: an error of JSON-RPC, with an HTTP status. */
const errorAnswer = (
  status: number,
  code: number,
  message: string,
  more: { headers?: Answer["headers"]; data?: unknown } = {},
): Answer => {
  const { headers = {}, data } = more;
  const error = { code, message, ...(data === undefined ? {} : { data }) };
  return {
    status,
    headers: { ...headers, "Cache-Control": "no-store", "Content-Type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: null, error }),
  };
};

/**
 * Returns the caller. Unlike REST, a session does not count: its cookie would be sent by any page.
 * @throws Problem 401 if there is no token, or one of the wrong form
 */
const callerOf = (request: Request, baseUrl: string): { agent: Buffer } => {
  const { actor } =
    request.headers.authorization === undefined ? { actor: "visitor" as const } : authenticate(request, baseUrl);
  if (actor !== "visitor" && "agent" in actor) return actor;
  throw problem(
    "unauthorized",
    "Send the header Authorization: Bearer with an OAuth access token, or with the token that POST /v1/connect returned.",
  );
};

/**
 * Returns a message without its null members. The id stays: a message without one is a notification, which gets no
 * answer.
 */
const messageOf = (parsed: unknown): unknown => {
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed) || !("id" in parsed))
    return withoutNulls(parsed);
  const { id, ...rest } = parsed;
  return { ...withoutNulls(rest), id };
};

/**
 * The SDK's request, whose headers decide how it is answered. Its parsed body is passed separately. It has no signal
 * for a client that hangs up, which would cost more than the rest of the request: waiting for turns and texts ends
 * without it.
 */
const webRequestOf = ({ headers }: Request): globalThis.Request => {
  const sent = new Headers({ accept: ACCEPT });
  for (const name of READ_HEADERS) {
    const value = headers[name];
    if (typeof value === "string") sent.set(name, value);
  }
  return new Request("http://localhost/mcp", { method: "POST", headers: sent });
};

/**
 * Creates the function that answers the requests to /mcp. The definitions of the tools are made once.
 * @returns a function that answers a request. It throws nothing
 */
export const createMcp = (context: Context): ((request: Request, response: Response) => Promise<Answer>) => {
  const { database, log, baseUrl } = context;
  const bound = bindTools(context.endpoints);
  const tools = new Map(bound.map((tool) => [tool.name, tool]));
  const list = { tools: bound.map(definitionOf) };
  const listMembers = JSON.stringify(list).slice(1, -1);
  const listKept = `,${JSON.stringify(LIST_KEPT).slice(1, -1)}`;
  const frameOf = framesFor(ABOUT);
  const toolNames = new Map(
    bound.flatMap((tool) =>
      [tool.main, ...tool.choices.values()].map((one) => [endpointName(one), tool.name] as const),
    ),
  );

  const callTool = async (tool: BoundTool, args: Record<string, unknown>, exchange: Exchange): Promise<Said> => {
    const { request, response } = exchange;
    response.locals["operation"] = tool.name;
    const { endpoint, sent } = callOf(tool, args);
    try {
      const answer = await handle(context, endpoint, request, response, () => {
        if (endpoint.body && exchange.bytes > endpoint.body.maxBytes) throw tooLarge(endpoint.body.maxBytes);
        return sent;
      });
      response.locals["status"] = answer.status;
      exchange.headers = answer.headers;
      return { text: String(answer.body), isError: false };
    } catch (error) {
      const failure = problemOf(error);
      const requestId = currentRequestId() ?? "";
      response.locals["status"] = PROBLEMS[failure.code].status;
      exchange.headers = failure.headers ?? {};
      if (failure.code === "unauthorized") exchange.unauthorized = failure;
      logFailure(log, failure, error, requestId, response.destroyed);
      return { text: problemText(failure, requestId, (name) => toolNames.get(name)), isError: true };
    }
  };

  const exchanges = new WeakMap<globalThis.Request, Exchange>();
  const serverFor = (exchange: Exchange | undefined): Server => {
    if (exchange === undefined) throw new Error("The SDK asks for a server without the request that it was given.");
    const server = new Server(ABOUT, {
      capabilities: { tools: {} },
      instructions: INSTRUCTIONS,
      cacheHints: { "tools/list": LIST_KEPT },
    });
    server.setRequestHandler("tools/list", () => list);
    server.setRequestHandler("tools/call", async ({ params }) => {
      const tool = tools.get(params.name);
      if (tool) return resultOf(await callTool(tool, params.arguments ?? {}, exchange));
      const names = [...tools.keys()].join(", ");
      throw new ProtocolError(INVALID_PARAMS, `There is no tool with this name. Names are in lower case: ${names}.`);
    });
    return server;
  };
  const sdk = createMcpHandler(({ requestInfo }) => serverFor(requestInfo && exchanges.get(requestInfo)), {
    // What the SDK refuses is the client's error, and is in the response.
    onerror: (error) => log.debug({ err: error, request_id: currentRequestId() }, "MCP"),
  });

  type Written = { status: number; type: string; body: string | Buffer };

  const answerBySdk = async (message: unknown, exchange: Exchange): Promise<Written> => {
    const webRequest = webRequestOf(exchange.request);
    exchanges.set(webRequest, exchange);
    const answer = await sdk.fetch(webRequest, { parsedBody: message });
    // The whole answer is awaited, because a token may turn out to be unknown after the SDK has started a stream.
    const body = await answer.text();
    const [, json] = ONLY_EVENT.exec(body) ?? [];
    const type = json === undefined ? answer.headers.get("content-type") : null;
    return { status: answer.status, type: type ?? "application/json", body: json ?? body };
  };

  /** Returns null if the SDK has to answer. */
  const answerFast = async (message: unknown, exchange: Exchange): Promise<Written | null> => {
    const fast = fastRequestOf(exchange.request.headers, message, (name) => tools.has(name));
    if (fast === null) return null;
    const tool = fast.call && tools.get(fast.call.name);
    const frame = frameOf(fast, tool ? "" : listKept);
    const body = tool
      ? answerOf(await callTool(tool, fast.call?.args ?? {}, exchange), frame)
      : frame.before + listMembers + frame.after;
    return { status: 200, type: "application/json", body };
  };

  /** Checks a token for a message that calls no function of the database with it. @throws Problem 401 */
  const requireKnown = async (agent: Buffer): Promise<void> => {
    await database.call({ agent }, "check_call", { permission: null, action: null }, "read");
  };

  const serve = async (request: Request, response: Response): Promise<Answer> => {
    const current = currentRequest();
    const caller = callerOf(request, baseUrl());
    const refusal = current?.refusal ?? database.callers.refusalOf(caller.agent);
    if (refusal) throw refusal;
    await admit(context, caller, request);
    let text: string;
    let message: unknown;
    try {
      text = (await readText(request, response, ANY_BODY)) ?? "";
      message = messageOf(parseJson(text));
    } catch (error) {
      const { code, detail } = problemOf(error);
      if (code === "bad_request") return errorAnswer(400, PARSE_ERROR, detail);
      throw error;
    }
    if (Array.isArray(message))
      return errorAnswer(400, INVALID_REQUEST, "Batches are refused. Send each JSON-RPC message as a request.");
    const isCall =
      typeof message === "object" && message !== null && "method" in message && message.method === "tools/call";
    // A call of a tool checks its token in its own statement.
    if (!isCall) await requireKnown(caller.agent);
    const exchange: Exchange = { request, response, bytes: Buffer.byteLength(text), headers: {} };
    const { status, type, body } = (await answerFast(message, exchange)) ?? (await answerBySdk(message, exchange));
    if (exchange.unauthorized) throw exchange.unauthorized;
    const headers: Record<string, string | number> = {};
    for (const [name, value] of Object.entries(exchange.headers)) if (PASSED_ON.test(name)) headers[name] = value;
    headers["Cache-Control"] = "no-store";
    if (body !== "") headers["Content-Type"] = type;
    return { status, headers, body: body === "" ? null : body };
  };

  return async (request, response) => {
    response.locals["operation"] = "mcp";
    response.locals["endpoint"] = true;
    if (request.method === "GET" && isBrowser(request))
      throw problem(
        "method_not_allowed",
        "This address is for assistants. A browser cannot open it.",
        {},
        { Allow: "POST" },
      );
    if (request.method !== "POST")
      return errorAnswer(405, REFUSED, "This endpoint has only POST.", { headers: { Allow: "POST" } });
    try {
      return await serve(request, response);
    } catch (error) {
      const failure = problemOf(error);
      const requestId = currentRequestId() ?? "";
      logFailure(log, failure, error, requestId, response.destroyed);
      const { status, headers, body } = problemAnswer(failure, requestId, baseUrl());
      const metadata = `resource_metadata="${baseUrl()}/.well-known/oauth-protected-resource/mcp"`;
      const challenge = request.headers.authorization === undefined ? metadata : `error="invalid_token", ${metadata}`;
      return errorAnswer(status, REFUSED, failure.detail, {
        headers: { ...headers, ...(status === 401 ? { "WWW-Authenticate": `Bearer ${challenge}` } : {}) },
        data: JSON.parse(String(body)) as unknown,
      });
    }
  };
};
