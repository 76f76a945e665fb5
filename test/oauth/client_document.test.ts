import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import test from "ava";
import { findDocuments } from "../../src/assistants/oauth/client_document.ts";
import { SWITCHING, serveRaw } from "../support/raw_server.ts";

/**
 * Fetching the documents in which clients describe themselves, from servers that want to harm the market. That nothing is
 * fetched from our own network is tested for clients and webhooks together (test/http/outbound.test.ts, test/webhooks).
 */

/** The part of ava's `t` that registers a clean-up. */
type Teardown = { teardown: (clean: () => Promise<void>) => void };

const listen = async (t: Teardown, answer: RequestListener, host = "127.0.0.1"): Promise<string> => {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  t.teardown(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://${host}:${(server.address() as AddressInfo).port}/client.json`;
};

const REDIRECTS = ["https://editor.example/callback"];

/** Serves a document that names its own address, with changes. */
const serveDocument = async (t: Teardown, changes: object = {}, headers: Record<string, string> = {}) => {
  const address: string = await listen(t, (_request, response) => {
    response.writeHead(200, { "content-type": "application/json", ...headers });
    response.end(JSON.stringify({ client_id: address, client_name: "Editor", redirect_uris: REDIRECTS, ...changes }));
  });
  return address;
};

const anywhere = findDocuments(true);
const publicOnly = findDocuments(false);

/** The detail of the refusal. @throws an Error if there is none, or if it is no Problem for the person */
const refusalOf = async (attempt: Promise<unknown>): Promise<string> => {
  try {
    await attempt;
  } catch (error) {
    const { code, detail, members } = error as { code: string; detail: string; members: { error: string } };
    if (code !== "bad_request" || members.error !== "invalid_client") throw error;
    return detail;
  }
  throw new Error("The document was accepted.");
};

test("a document gives the client's name and redirect URIs", async (t) => {
  t.like(await anywhere(await serveDocument(t)), {
    client_name: "Editor",
    redirect_uris: REDIRECTS,
    auth_methods: ["none"],
  });
  const nameless = await serveDocument(t, { client_name: undefined, token_endpoint_auth_method: "none", more: {} });
  t.is((await anywhere(nameless)).client_name, new URL(nameless).host);
});

test("a document says how its client proves itself: by the method that it prefers, and by the others", async (t) => {
  const chatGpt = await serveDocument(t, {
    token_endpoint_auth_method: "private_key_jwt",
    token_endpoint_auth_methods_supported: ["none", "private_key_jwt"],
    token_endpoint_auth_signing_alg: "RS256",
    jwks_uri: "https://chatgpt.example/jwks.json",
    client_name: null,
  });
  t.deepEqual((await anywhere(chatGpt)).auth_methods, ["private_key_jwt", "none", "private_key_jwt"]);
});

for (const [what, changes, why] of [
  ["names another client", { client_id: "https://editor.example/other" }, /names another client_id/],
  ["has no redirect URIs", { redirect_uris: [] }, /lacks client_id or redirect_uris/],
  ["has a NUL", { redirect_uris: ["https://x.example/\0"] }, /malformed/],
  ["is huge", { padding: "x".repeat(11 * 1024) }, /more than 10 KB/],
] as const) {
  test(`a document that ${what} is refused`, async (t) => {
    t.regex(await refusalOf(anywhere(await serveDocument(t, changes))), why);
  });
}

test("of an endless document, little more than the limit is read", async (t) => {
  let sent = 0;
  const address = await listen(t, (_request, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    const write = (): void => {
      sent += 1024;
      if (!response.destroyed) response.write(" ".repeat(1024), () => setImmediate(write));
    };
    write();
  });
  t.regex(await refusalOf(anywhere(address)), /more than 10 KB/);
  t.true(sent < 4 * 1024 * 1024);
});

test("a server that does not come to an end is given up after five seconds", async (t) => {
  const silent = await listen(t, () => undefined);
  const dripping = await listen(t, (_request, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    const timer = setInterval(() => response.write(" "), 100);
    response.once("close", () => clearInterval(timer));
  });
  const began = performance.now();
  for (const detail of await Promise.all([silent, dripping].map((address) => refusalOf(anywhere(address)))))
    t.regex(detail, /nothing whole came from there within 5 seconds/);
  t.true(performance.now() - began >= 4_900);
});

test("a redirect is not followed", async (t) => {
  const address = await listen(t, (_request, response) => response.writeHead(302, { location: "/other" }).end());
  t.regex(await refusalOf(anywhere(address)), /its status there is 302/);
});

test("a fetch ends however the server ends it, and also if it wants to speak another protocol", async (t) => {
  const head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n";
  for (const [answer, why] of [
    [SWITCHING, /its status there is 101 and not 200/],
    ["", /cannot be reached/],
    ["HTTP/1.1 102 Processing\r\n\r\n", /cannot be reached/],
    [head, /cannot be reached/],
    [`${head}content-length: 100\r\n\r\n{`, /cannot be reached/],
    // The end of the connection is the end of the body.
    [`${head}\r\n{}`, /lacks client_id/],
  ] as const) {
    const port = await serveRaw(t, (socket) => socket.end(answer));
    t.regex(await refusalOf(anywhere(`http://127.0.0.1:${port}/client.json`)), why, answer);
  }
});

test("what is no JSON is refused", async (t) => {
  for (const [type, text] of [
    ["text/html", "<p>"],
    ["application/json", '{"client_id":'],
  ] as const) {
    const address = await listen(t, (_request, response) =>
      response.writeHead(200, { "content-type": type }).end(text),
    );
    t.regex(await refusalOf(anywhere(address)), /not JSON/);
  }
});

for (const address of [
  "http://editor.example/client.json",
  "https://editor.example",
  "https://editor.example/",
  "https://editor.example/client.json#x",
  "https://user:password@editor.example/client.json",
  "https://EDITOR.example/client.json",
  "https://editor.example/a/../client.json",
  "https://",
]) {
  test(`${address} is no client_id`, async (t) => {
    t.regex(await refusalOf(publicOnly(address)), /not an https address with a path/);
  });
}

test("at most 60 documents are fetched at once", async (t) => {
  const address = await listen(t, () => undefined);
  const find = findDocuments(true);
  const codes = await Promise.all(
    Array.from({ length: 64 }, () => find(address).then(String, (error: { code: string }) => error.code)),
  );
  t.is(codes.filter((code) => code === "bad_request").length, 60);
  t.is(codes.filter((code) => code === "service_unavailable").length, 4);
});
