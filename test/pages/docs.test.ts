import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import test from "ava";
import { ENDPOINTS } from "../../src/api/endpoints.ts";
import { TOOLS } from "../../src/assistants/mcp/tools.ts";
import { renderGuides } from "../../src/docs/guides.ts";
import { servePages, type Teardown } from "./site.ts";
import { invalidHtml } from "./sound.ts";

/** Tests the documentation over HTTP: its pages, its search, and the documents that programs look for. */

const known = new Set(ENDPOINTS.map(({ method, path }) => `${method.toUpperCase()} ${path}`));

const unescaped = (html: string): string =>
  html.replaceAll("&quot;", '"').replaceAll("&#39;", "'").replaceAll("&lt;", "<").replaceAll("&amp;", "&");

const open = async (t: Teardown, baseUrl?: string) => {
  const site = await servePages(t, {}, baseUrl);
  const get = async (path: string) => {
    const answer = await fetch(site.url + path);
    return { status: answer.status, headers: answer.headers, text: await answer.text() };
  };
  return { site, get };
};

/** The paths below the site that a page links to. */
const linksOf = (html: string): string[] =>
  [...html.matchAll(/ (?:href|src)="([^"]*)"/g)].map(([, href = ""]) => unescaped(href));

test("every page of the documentation is valid HTML, and every link on it leads to something on this host", async (t) => {
  const { get } = await open(t);
  const seen = new Map<string, string>();
  const waiting = ["/", "/docs"];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    // What the pages are not made of is tested elsewhere.
    if (seen.has(path) || /^\/(v1|settings)\b/.test(path)) continue;
    const { status, text, headers } = await get(path);
    t.is(status, 200, path);
    seen.set(path, text);
    if (!headers.get("content-type")?.startsWith("text/html")) continue;
    t.deepEqual(await invalidHtml(text), [], path);
    for (const href of linksOf(text)) {
      t.regex(href, /^[/#]/, `${path} leads to another host`);
      const [target = "", anchor] = href.split("#");
      if (anchor !== undefined && target === "") t.true(text.includes(`id="${anchor}"`), `${path} ${href}`);
      if (target !== "") waiting.push(target);
    }
  }
  for (const [path, text] of seen)
    for (const href of linksOf(text)) {
      const [target = "", anchor] = href.split("#");
      if (anchor !== undefined && seen.has(target))
        t.true(seen.get(target)?.includes(`id="${anchor}"`), `${path} ${href}`);
    }
  for (const { operationId } of ENDPOINTS) t.true(seen.has(`/docs/reference/${operationId}`), operationId);
  for (const { slug } of renderGuides("http://localhost")) t.true(seen.has(`/docs/${slug}`), slug);
});

test("the summary of a guide is plain text, for the list of guides and for llms.txt", async (t) => {
  const { get } = await open(t);
  const { text } = await get("/docs");
  t.notRegex(text.slice(text.indexOf("<h1>")), /[`*\]]/);
});

test("a page of the documentation that does not exist is a 404", async (t) => {
  const { get } = await open(t);
  for (const path of ["/docs/none", "/docs/reference/none", "/docs/reference/constructor", "/docs/..%2fskill"])
    t.is((await get(path)).status, 404, path);
  t.is((await get("/.well-known/agent-skills/none/SKILL.md")).text, "not a page");
});

test("guides and documents name only calls of the table, and no placeholder is left", async (t) => {
  const { get } = await open(t, "https://souk.example/market");
  const pages = renderGuides("http://localhost").map(({ slug }) => `/docs/${slug}`);
  for (const path of [...pages, "/llms.txt", "/.well-known/agent-skills/souk/SKILL.md"]) {
    const { status, text } = await get(path);
    t.is(status, 200, path);
    t.notRegex(text, /\{base_url\}|undefined|127\.0\.0\.1/, path);
    for (const [, method, called = ""] of text.matchAll(
      /\b(GET|POST|PATCH|DELETE) (?:https:\/\/souk\.example\/market)?(\/v1[\w/{}.$]*)/g,
    )) {
      // A shell has a variable in the place of a parameter.
      const named = called.replace(/\.$/, "").replaceAll(/\$\w+/g, "{id}");
      t.true(known.has(`${method} ${named}`), `${path}: ${method} ${called}`);
    }
  }
});

test("the address of the service is shown as the operator wrote it, also below a path", async (t) => {
  const { get } = await open(t, "https://souk.example/market");
  t.true((await get("/docs/connect")).text.includes("https://souk.example/market/mcp"));
  t.true((await get("/docs/rest")).text.includes('href="/market/docs/errors"'));
  t.true((await get("/")).text.includes(">https://souk.example/market/mcp<"));
  t.true((await get("/docs/reference/getMe")).text.includes("https://souk.example/market/v1/me"));
});

test("the search without a script finds codes, headings, synonyms and calls", async (t) => {
  const { get } = await open(t);
  for (const [query, first] of [
    ["missing_contact", "/errors#missing_contact"],
    ["VS code", "/docs/connect#vs-code"],
    ["retry", "/docs/errors#retry-without-doing-it-twice"],
    ["listMatches", "/docs/reference/listMatches"],
    ["POST /v1/offers/search", "/docs/reference/searchOffers"],
  ] as const) {
    const { text } = await get(`/docs/search?q=${encodeURIComponent(query)}`);
    const results = linksOf(text.slice(text.indexOf("<h1>"), text.indexOf("</main>")));
    t.is(results[0], first, results.join("\n"));
    t.deepEqual(await invalidHtml(text), []);
  }
});

test("the search shows what was typed as text, and answers anything", async (t) => {
  const { get } = await open(t);
  const typed = '"><script>alert(1)</script>';
  const { status, text } = await get(`/docs/search?q=${encodeURIComponent(typed)}`);
  t.is(status, 200);
  t.false(text.includes("<script>alert"));
  for (const query of ["?q=", "", "?q[]=x&q=y", `?q=${"price ".repeat(300)}`, "?q=%00", "?q=.*(", "?q=zzzzzz"]) {
    const answer = await get(`/docs/search${query}`);
    t.is(answer.status, 200, query);
    t.deepEqual(await invalidHtml(answer.text), [], query);
  }
  t.true((await get("/docs/search?q=zzzzzz")).text.includes("Nothing has all of these words"));
});

test("llms.txt begins as llmstxt.org says, and links every guide and every call", async (t) => {
  const { get } = await open(t, "https://souk.example");
  const { headers, text } = await get("/llms.txt");
  t.is(headers.get("content-type"), "text/plain; charset=utf-8");
  t.regex(text, /^# Souk\n\n> .+\n\n[\s\S]*\n## Start\n\n- \[/);
  for (const line of text.split("\n").filter((one) => one.startsWith("- ")))
    t.regex(line, /^- \[[^\]]+\]\(https:\/\/souk\.example\/[^)]*\): .+\.$/);
  for (const { method, path } of ENDPOINTS) t.true(text.includes(`[${method.toUpperCase()} ${path}]`), path);
});

test("the index of skills has the digest of the skill, which names itself as its folder", async (t) => {
  const { get } = await open(t, "https://souk.example");
  const index = JSON.parse((await get("/.well-known/agent-skills/index.json")).text);
  const skill = await get("/.well-known/agent-skills/souk/SKILL.md");
  t.is(skill.headers.get("content-type"), "text/markdown; charset=utf-8");
  const [, name, description = ""] = /^---\nname: (.+)\ndescription: (.+)\n---\n/.exec(skill.text) ?? [];
  t.true(description.length > 0 && description.length <= 1024);
  t.deepEqual(index, {
    $schema: "https://schemas.agentskills.io/discovery/0.2.0/schema.json",
    skills: [
      {
        name: "souk",
        type: "skill-md",
        description,
        url: "https://souk.example/.well-known/agent-skills/souk/SKILL.md",
        digest: `sha256:${createHash("sha256").update(skill.text).digest("hex")}`,
      },
    ],
  });
  t.is(name, "souk");
  // The specification recommends less than 5,000 tokens, which are about four characters each.
  t.true(skill.text.length < 5_000 * 4);
});

test("the skill names every tool of the tool table, and no other", async (t) => {
  const { get } = await open(t);
  // The part about REST names members and codes, which look like names of tools.
  const [beforeRest = ""] = (await get("/.well-known/agent-skills/souk/SKILL.md")).text.split("## With REST");
  const named = new Set([...beforeRest.matchAll(/`([a-z]+_[a-z]+)[^`]*`/g)].map(([, name = ""]) => name));
  t.deepEqual([...named].sort(), TOOLS.map(({ name }) => name).sort());
});

for (const [baseUrl, name] of [
  ["https://souk.example.com", "com.example.souk/souk"],
  ["https://souk.example.com/market", "com.example.souk/souk"],
  ["http://127.0.0.1:3000", "127.0.0.1/souk"],
  ["http://[::1]:3000", "1/souk"],
] as const) {
  test(`the server card of ${baseUrl} says where /mcp is`, async (t) => {
    const { get } = await open(t, baseUrl);
    const card = JSON.parse((await get("/.well-known/mcp/server-card.json")).text);
    t.like(card, { name, title: "Souk", version: "1.0.0", websiteUrl: `${baseUrl}/docs` });
    t.is(card.$schema, "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json");
    t.regex(card.name, /^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/);
    t.true(card.description.length <= 100);
    t.deepEqual(card.remotes, [
      {
        type: "streamable-http",
        url: `${baseUrl}/mcp`,
        supportedProtocolVersions: ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26"],
      },
    ]);
  });
}

test("documents for programs can be cached and revalidated", async (t) => {
  const { site, get } = await open(t);
  for (const path of [
    "/llms.txt",
    "/.well-known/agent-skills/index.json",
    "/.well-known/agent-skills/souk/SKILL.md",
    "/.well-known/mcp/server-card.json",
  ]) {
    const { headers } = await get(path);
    t.is(headers.get("cache-control"), "public, max-age=300", path);
    const etag = headers.get("etag") ?? t.fail(`${path} has no ETag`);
    const again = await fetch(site.url + path, { headers: { "if-none-match": etag, "cache-control": "max-age=0" } });
    t.is(again.status, 304, path);
    // An agent that sends its token gets them, too.
    t.is((await fetch(site.url + path, { headers: { authorization: "Bearer agt_x" } })).status, 200, path);
  }
});

/**
 * The rules of server.json, schema 2025-12-11 of the MCP registry
 * (https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json), for a server that is reached by a URL.
 */
const SERVER_JSON = {
  type: "object",
  required: ["$schema", "name", "description", "version", "remotes"],
  properties: {
    $schema: { const: "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json" },
    name: { type: "string", minLength: 3, maxLength: 200, pattern: "^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$" },
    title: { type: "string", minLength: 1, maxLength: 100 },
    description: { type: "string", minLength: 1, maxLength: 100 },
    version: { type: "string", maxLength: 255, pattern: "^[^\\^~<>=*x]+$" },
    websiteUrl: { type: "string", format: "uri" },
    remotes: {
      type: "array",
      minItems: 1,
      items: {
        type: "object",
        required: ["type", "url"],
        properties: {
          type: { enum: ["streamable-http", "sse"] },
          url: { type: "string", pattern: "^https?://[^\\s]+$" },
        },
        additionalProperties: false,
      },
    },
  },
  additionalProperties: false,
};

test("server.json is what the MCP registry takes, and says the same as the server card", async (t) => {
  const { default: Ajv } = await import("ajv");
  const { default: formats } = await import("ajv-formats");
  const ajv = new Ajv.default({ strict: false });
  formats.default(ajv);
  const valid = ajv.compile(SERVER_JSON);
  const server = JSON.parse(await readFile(new URL("../../server.json", import.meta.url), "utf8"));
  t.true(valid(server), JSON.stringify(valid.errors));
  const { get } = await open(t, "https://souk.example.com");
  const card = JSON.parse((await get("/.well-known/mcp/server-card.json")).text);
  const { $schema: _schema, remotes, ...rest } = server;
  const { $schema: _other, remotes: ofCard, ...same } = card;
  t.deepEqual(rest, same);
  t.is(remotes[0].url, ofCard[0].url);
  for (const wrong of [{ name: "souk" }, { description: "x".repeat(101) }, { version: "^1.0.0" }, { remotes: [] }])
    t.false(valid({ ...server, ...wrong }), JSON.stringify(wrong));
});
