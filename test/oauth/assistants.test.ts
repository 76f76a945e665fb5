import { readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import test from "ava";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { type Answer, call } from "../support/market.ts";
import { listenOn } from "../support/raw_server.ts";
import { type SharedService, sharedService } from "../support/shared.ts";
import { ASSISTANTS, type Recorded, tableOfAssistants } from "./assistants.ts";
import { approve, newVerifier } from "./client.ts";

/** The recorded requests of assistants, sent again, from discovery to the result of a tool. */

let service: SharedService;
test.before(async () => {
  service = await sharedService({ env: { CLIENT_METADATA_PRIVATE: "allow" } });
});

/** A recording with its placeholders replaced by what is known. */
const filled = <Value>(value: Value, known: ReadonlyMap<string, string>): Value =>
  JSON.parse(
    JSON.stringify(value, (_name, member: unknown) =>
      typeof member === "string" ? member.replace(/\{(\w+)\}/g, (all, name) => known.get(name) ?? all) : member,
    ),
  );

const send = ({ method, path, headers, fields, json }: Recorded): Promise<Answer> => {
  const sent = new URLSearchParams(fields).toString();
  if (method === "POST") return call(service.url, method, path, { headers, raw: fields ? sent : JSON.stringify(json) });
  return call(service.url, method, fields ? `${path}?${sent}` : path, { headers });
};

for (const { name, document, requests } of ASSISTANTS) {
  test(`${name} comes from discovery to the result of a tool`, async (t) => {
    const { verifier, challenge } = newVerifier();
    const known = new Map([
      ["base", service.url],
      ["verifier", verifier],
      ["challenge", challenge],
    ]);
    const { privateKey, publicKey } = await generateKeyPair("RS256", { extractable: true });
    const jwks = { keys: [{ ...(await exportJWK(publicKey)), kid: "1" }] };
    const port = await listenOn(
      t,
      createServer((request, response) => {
        response.setHeader("content-type", "application/json");
        response.end(JSON.stringify(request.url === "/jwks.json" ? jwks : filled(document, known)));
      }),
    );
    const published = `http://127.0.0.1:${port}/client.json`;
    if (document) known.set("client_id", published);
    known.set("jwks_uri", `http://127.0.0.1:${port}/jwks.json`);
    known.set(
      "assertion",
      await new SignJWT({ iss: published, sub: published, jti: name })
        .setProtectedHeader({ alg: "RS256", kid: "1" })
        .setAudience(service.url)
        .setIssuedAt()
        .setExpirationTime("5m")
        .sign(privateKey),
    );
    t.true(requests.length >= 10);
    let last: Answer | undefined;
    for (const recorded of requests) {
      const answer = await send(filled(recorded, known));
      t.is(answer.status, recorded.status, `${recorded.method} ${recorded.path}: ${answer.text}`);
      if (recorded.path === "/oauth/register") known.set("client_id", answer.body.client_id);
      if (recorded.path === "/oauth/token") known.set("access", answer.body.access_token);
      if (recorded.path === "/oauth/authorize")
        known.set("code", (await approve(answer.headers["location"] ?? "")).searchParams.get("code") ?? "");
      known.set("basic", Buffer.from(`${encodeURIComponent(known.get("client_id") ?? "")}:`).toString("base64"));
      if (recorded.json && "method" in recorded.json && recorded.json.method === "tools/call") last = answer;
    }
    t.true(Array.isArray(last?.body.result.structuredContent.results), last?.text);
  });
}

const GUIDE = new URL("../../src/docs/guides/connect.md", import.meta.url);

test("the guide has the table of these clients (UPDATE=clients writes it)", async (t) => {
  const guide = await readFile(GUIDE, "utf8");
  const current = guide.replace(/(?<=\n\n)(\|.*\n)+/, () => tableOfAssistants());
  if (process.env["UPDATE"] === "clients") await writeFile(GUIDE, current);
  t.is(process.env["UPDATE"] === "clients" ? current : guide, current);
});
