/**
 * The first requests of well-known assistants, editors and programs, from discovery to the result of a tool. They are put
 * together from what the makers, their sources and server logs show in public, which `seen` names. `unseen` says what of
 * them nobody has published; there stands what the specification prescribes.
 *
 *   document    what the client says of itself at its client_id. `{client_id}` stands for that address
 *   requests    as recorded, with placeholders: {base} is this service, {challenge} and {verifier} those of PKCE,
 *               {client_id}, {code}, {access} what earlier answers gave, and {assertion} a JWT signed with the client's key
 *   status      of the answer. The person approves after the request with the path /oauth/authorize
 */

/** A request as recorded. A form or query is `fields`, JSON is `json`. */
export type Recorded = {
  method: "GET" | "HEAD" | "POST";
  path: string;
  headers: Record<string, string>;
  fields?: Record<string, string>;
  json?: object;
  status: number;
};

export type Assistant = {
  name: string;
  seen: string;
  unseen: string;
  document?: object;
  requests: Recorded[];
};

type Headers = Record<string, string>;

const get = (path: string, headers: Headers, status = 200): Recorded => ({ method: "GET", path, headers, status });

const register = (headers: Headers, json: object): Recorded => ({
  method: "POST",
  path: "/oauth/register",
  headers: { "content-type": "application/json", ...headers },
  json,
  status: 201,
});

/** Where the client sends the person's browser. */
const authorize = (fields: Record<string, string>): Recorded => ({
  method: "GET",
  path: "/oauth/authorize",
  headers: { accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "sec-fetch-mode": "navigate" },
  fields: { response_type: "code", code_challenge: "{challenge}", code_challenge_method: "S256", ...fields },
  status: 303,
});

const token = (headers: Headers, fields: Record<string, string>): Recorded => ({
  method: "POST",
  path: "/oauth/token",
  headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
  fields: { grant_type: "authorization_code", code: "{code}", code_verifier: "{verifier}", ...fields },
  status: 200,
});

const rpc = (headers: Headers, message: object, status = 200): Recorded => ({
  method: "POST",
  path: "/mcp",
  headers: { "content-type": "application/json", ...headers },
  json: { jsonrpc: "2.0", ...message },
  status,
});

const BEARER = { authorization: "Bearer {access}" };

/** How clients of the revisions of 2025 begin: with initialize, and from then on with the header of the revision. */
const handshake = (headers: Headers, protocolVersion: string, clientInfo: object, capabilities: object = {}) => {
  const sent = { ...headers, "mcp-protocol-version": protocolVersion };
  const initialize = { id: 0, method: "initialize", params: { protocolVersion, capabilities, clientInfo } };
  return {
    refused: rpc(headers, initialize, 401),
    initialize: rpc({ ...headers, ...BEARER }, initialize),
    initialized: rpc({ ...sent, ...BEARER }, { method: "notifications/initialized" }, 202),
    /** The stream on which a server may speak by itself. This one has none, and clients go on without it. */
    stream: get("/mcp", { ...sent, ...BEARER, accept: "text/event-stream" }, 405),
    list: rpc({ ...sent, ...BEARER }, { id: 1, method: "tools/list", params: {} }),
    call: rpc(
      { ...sent, ...BEARER },
      { id: 2, method: "tools/call", params: { name: "search_offers", arguments: { query: "sofa", filters: null } } },
    ),
  };
};

const BOTH = "application/json, text/event-stream";

const chatGpt = (): Assistant => {
  const agent = { "user-agent": "openai-mcp/1.0.0 (ChatGPT)", accept: BOTH };
  const redirect_uri = "https://chatgpt.com/connector_platform_oauth_redirect";
  const talk = handshake(
    agent,
    "2025-11-25",
    { name: "openai-mcp (ChatGPT)", version: "1.0.0" },
    {
      experimental: { "openai/visibility": { enabled: true } },
      extensions: { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html;profile=mcp-app"] } },
    },
  );
  return {
    name: "ChatGPT",
    seen: "altinity-mcp#118 and engram#1633 (document), logto#9627 (authorization), adcp#1081 and kernel-mcp-server#91 (discovery)",
    unseen: "the headers of discovery and of the request for a token, and the audience of the assertion",
    document: {
      client_id: "{client_id}",
      client_name: "ChatGPT",
      client_uri: "https://chatgpt.com/",
      redirect_uris: [redirect_uri],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "private_key_jwt",
      token_endpoint_auth_methods_supported: ["none", "private_key_jwt"],
      token_endpoint_auth_signing_alg: "RS256",
      jwks_uri: "{jwks_uri}",
    },
    requests: [
      talk.refused,
      get("/.well-known/oauth-protected-resource/mcp", {}),
      get("/.well-known/oauth-protected-resource", {}),
      get("/.well-known/oauth-authorization-server/mcp", {}),
      get("/.well-known/oauth-authorization-server", {}),
      authorize({
        client_id: "{client_id}",
        redirect_uri,
        scope: "market",
        resource: "{base}/mcp",
        state: "oauth_s_6a21",
        ui_locales: "en-US",
      }),
      token(
        {},
        {
          client_id: "{client_id}",
          redirect_uri,
          resource: "{base}/mcp",
          client_assertion: "{assertion}",
          client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
        },
      ),
      talk.initialize,
      talk.initialized,
      talk.list,
      talk.call,
    ],
  };
};

const claude = (): Assistant => {
  const redirect_uri = "https://claude.ai/api/mcp/auth_callback";
  const talk = handshake({ "user-agent": "Claude-User", accept: BOTH }, "2025-11-25", {
    name: "Anthropic/ClaudeAI",
    version: "1.0.0",
  });
  const oauth = { "user-agent": "python-httpx/0.28.1", accept: "*/*" };
  return {
    name: "Claude",
    seen: "claude-ai-mcp#654 (order), #82 (user agents), #518 (document), modelcontextprotocol#1674 (HEAD)",
    unseen: "the capabilities of initialize",
    document: {
      client_id: "{client_id}",
      client_name: "Claude",
      redirect_uris: [redirect_uri],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
    },
    requests: [
      { ...get("/mcp", oauth, 405), method: "HEAD" },
      talk.refused,
      get("/.well-known/oauth-protected-resource/mcp", oauth),
      get("/.well-known/oauth-authorization-server", oauth),
      authorize({ client_id: "{client_id}", redirect_uri, scope: "market", resource: "{base}/mcp", state: "x8Jt" }),
      token(oauth, { client_id: "{client_id}", redirect_uri, resource: "{base}/mcp" }),
      talk.initialize,
      talk.initialized,
      talk.list,
      talk.call,
    ],
  };
};

const gemini = (): Assistant => {
  const redirect_uri = "http://localhost:7777/oauth/callback";
  const fetched = { "user-agent": "node", accept: "*/*" };
  const talk = handshake({ "user-agent": "node", accept: BOTH }, "2025-11-25", {
    name: "gemini-cli-mcp-client",
    version: "0.0.1",
  });
  return {
    name: "Gemini CLI",
    seen: "gemini-cli: packages/core/src/mcp/oauth-provider.ts, oauth-utils.ts and tools/mcp-client.ts",
    unseen: "nothing. Its resource is left out here, because other Gemini clients send none (omi#12122)",
    requests: [
      talk.refused,
      { ...get("/mcp", { ...fetched, accept: "application/json" }, 405), method: "HEAD" },
      get("/.well-known/oauth-protected-resource/mcp", fetched),
      get("/.well-known/oauth-authorization-server", fetched),
      register(fetched, {
        client_name: "Gemini CLI MCP Client",
        redirect_uris: [redirect_uri],
        grant_types: ["authorization_code", "refresh_token"],
        response_types: ["code"],
        token_endpoint_auth_method: "none",
        scope: "market",
      }),
      authorize({ client_id: "{client_id}", redirect_uri, state: "Zm9v", scope: "market" }),
      token(
        { accept: "application/json, application/x-www-form-urlencoded" },
        { client_id: "{client_id}", redirect_uri },
      ),
      talk.initialize,
      talk.initialized,
      talk.stream,
      talk.list,
      talk.call,
    ],
  };
};

const n8n = (): Assistant => {
  const redirect_uri = "https://n8n.example/rest/oauth2-credential/callback";
  const axios = { "user-agent": "axios/1.12.0", accept: "application/json, text/plain, */*" };
  const talk = handshake({ "user-agent": "node", accept: BOTH }, "2025-06-18", {
    name: "@n8n/n8n-nodes-langchain.mcpClientTool",
    version: "1",
  });
  return {
    name: "n8n",
    seen: "n8n: packages/cli/src/oauth/oauth.service.ts and packages/@n8n/client-oauth2; n8n#30733 (no resource)",
    unseen: "nothing",
    requests: [
      get("/.well-known/oauth-protected-resource/mcp", axios),
      get("/.well-known/oauth-authorization-server", axios),
      register(axios, {
        redirect_uris: [redirect_uri],
        token_endpoint_auth_method: "none",
        grant_types: ["authorization_code", "refresh_token"],
        response_types: ["code"],
        client_name: "n8n",
        client_uri: "https://n8n.io/",
        scope: "market",
      }),
      authorize({ client_id: "{client_id}", redirect_uri, state: "eyJ0b2tlbiI6IngifQ==", scope: "market" }),
      token(
        { accept: "application/json, application/x-www-form-urlencoded" },
        { client_id: "{client_id}", redirect_uri },
      ),
      talk.initialize,
      talk.initialized,
      talk.stream,
      talk.list,
      talk.call,
    ],
  };
};

const cursor = (): Assistant => {
  const redirect_uri = "http://localhost:8787/callback";
  const fetched = { "user-agent": "node", "mcp-protocol-version": "2025-11-25", accept: "*/*" };
  const talk = handshake({ "user-agent": "node", accept: BOTH }, "2025-11-25", {
    name: "cursor-vscode",
    version: "1.0.0",
  });
  return {
    name: "Cursor",
    seen: "gamedev.pl#483 (order), accounted#2225 (redirect URIs); it uses the SDK of the protocol, whose requests these are",
    unseen: "the capabilities of initialize",
    requests: [
      talk.refused,
      get("/.well-known/oauth-protected-resource/mcp", fetched),
      get("/.well-known/oauth-authorization-server", { ...fetched, accept: "application/json" }),
      register(fetched, {
        client_name: "Cursor",
        redirect_uris: [
          "cursor://anysphere.cursor-mcp/oauth/callback",
          "https://www.cursor.com/agents/mcp/oauth/callback",
          redirect_uri,
        ],
        grant_types: ["authorization_code", "refresh_token"],
        response_types: ["code"],
        token_endpoint_auth_method: "none",
      }),
      authorize({ client_id: "{client_id}", redirect_uri, state: "1f0a", scope: "market", resource: "{base}/mcp" }),
      token({ accept: "application/json" }, { client_id: "{client_id}", redirect_uri, resource: "{base}/mcp" }),
      talk.initialize,
      talk.initialized,
      talk.stream,
      talk.list,
      talk.call,
    ],
  };
};

const vsCode = (): Assistant => {
  const redirect_uri = "http://127.0.0.1:33418/";
  const json = { "user-agent": "node", accept: "application/json", "mcp-protocol-version": "2025-11-25" };
  const talk = handshake(
    { "user-agent": "node", accept: "text/event-stream, application/json" },
    "2025-11-25",
    { name: "Visual Studio Code", version: "1.115.0" },
    {
      roots: { listChanged: true },
      sampling: {},
      elicitation: { form: {}, url: {} },
      tasks: { list: {}, cancel: {}, requests: { sampling: { createMessage: {} }, elicitation: { create: {} } } },
      extensions: { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html;profile=mcp-app"] } },
    },
  );
  return {
    name: "VS Code",
    seen: "vscode: src/vs/base/common/oauth.ts and workbench/api/common/extHostMcp.ts; vscode#308766 (initialize), #282472 (document)",
    unseen: "the headers of the request for a token",
    document: {
      client_id: "{client_id}",
      client_name: "Visual Studio Code",
      application_type: "native",
      redirect_uris: [redirect_uri, "https://vscode.dev/redirect"],
      grant_types: ["authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
    },
    requests: [
      talk.refused,
      get("/.well-known/oauth-protected-resource/mcp", json),
      get("/.well-known/oauth-authorization-server", json),
      authorize({ client_id: "{client_id}", redirect_uri, state: "vscode", scope: "market", resource: "{base}/mcp" }),
      token({ accept: "application/json" }, { client_id: "{client_id}", redirect_uri, resource: "{base}/mcp" }),
      talk.initialize,
      talk.stream,
      talk.initialized,
      talk.list,
      talk.call,
    ],
  };
};

const copilotStudio = (): Assistant => {
  const redirect_uri = "https://global.consent.azure-apim.net/redirect/cr938-5fsouk-5f43bcb8573bc3e84";
  const talk = handshake({ "user-agent": "CopilotStudio PowerFx", accept: BOTH }, "2025-06-18", {
    name: "Copilot Studio",
    version: "1.0.0",
  });
  return {
    name: "Copilot Studio",
    seen: "tableau-mcp#866 (order), smartbear-mcp#463 (redirect URI), CIPP#278 (no scope), govreposcrape#356 (requests at /mcp)",
    unseen:
      "all bodies, and how it names itself for a token. Here it is by HTTP Basic without a password, as some clients without a secret do (RFC 6749, section 2.3.1)",
    requests: [
      get("/.well-known/oauth-authorization-server", {}),
      get("/.well-known/oauth-protected-resource", {}),
      register(
        {},
        {
          client_name: "Souk",
          redirect_uris: [redirect_uri],
          grant_types: ["authorization_code", "refresh_token"],
          response_types: ["code"],
        },
      ),
      authorize({ client_id: "{client_id}", redirect_uri, state: "7d41" }),
      token({ authorization: "Basic {basic}" }, { redirect_uri }),
      talk.initialize,
      talk.initialized,
      talk.list,
      talk.call,
      rpc({ ...talk.call.headers, accept: "application/json" }, { id: 3, method: "tools/list", params: {} }),
    ],
  };
};

export const ASSISTANTS: readonly Assistant[] = [
  chatGpt(),
  claude(),
  gemini(),
  n8n(),
  cursor(),
  vsCode(),
  copilotStudio(),
];

const CELLS = [
  "client",
  "says who it is",
  "returns to",
  "proves itself by",
  "names the resource",
  "revision of MCP",
] as const;

/** The table of the documentation, in Markdown: what each client does, by its requests. */
export const tableOfAssistants = (): string => {
  const rows = ASSISTANTS.map(({ name, document, requests }) => {
    const find = (path: string) => requests.find((request) => request.path === path)?.fields ?? {};
    const [asks, exchanges] = [find("/oauth/authorize"), find("/oauth/token")];
    const { "mcp-protocol-version": revision = "" } =
      requests.find(({ path, status }) => path === "/mcp" && status === 202)?.headers ?? {};
    return [
      name,
      document === undefined ? "registers" : "by its document",
      `\`${new URL(asks["redirect_uri"] ?? "").host}\``,
      exchanges["client_assertion"] === undefined ? "PKCE" : "PKCE and its key",
      asks["resource"] === undefined ? "no" : "yes",
      revision,
    ];
  });
  return [CELLS, CELLS.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |\n`).join("");
};
