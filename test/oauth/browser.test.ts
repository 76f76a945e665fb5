import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { auth as auth2, type OAuthClientProvider as Provider2 } from "@modelcontextprotocol/client";
import { auth, type OAuthClientProvider } from "@modelcontextprotocol/sdk/client/auth.js";
import test, { type ExecutionContext } from "ava";
import type { Page } from "playwright-core";
import { type Fixture, heading, openFixture, press } from "../pages/fixture.ts";
import { faults, SOUND } from "../pages/sound.ts";
import { leaveBy, openPage, screenshot, VIEWS, type View } from "../support/browser.ts";
import { type Body, SOFA } from "../support/market.ts";
import { freePort } from "../support/postgres.ts";
import { authorizeUrl, exchange, newVerifier, register, sendForm, startClient, statusOf } from "./client.ts";

/** A person in Chromium connects a client of OAuth, against the real service. */

const CONFORMANCE = fileURLToPath(
  new URL("../../node_modules/@modelcontextprotocol/conformance/dist/index.js", import.meta.url),
);
const INSPECTOR = fileURLToPath(
  new URL("../../node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js", import.meta.url),
);

let fixture: Fixture;
test.before(async () => {
  fixture = await openFixture({ env: { CLIENT_METADATA_PRIVATE: "allow" } });
});
test.after.always(() => fixture?.end());

type OAuthClient = Awaited<ReturnType<typeof startClient>>;

/** Opens the page to which a client sends the browser. It is registered under a name, unless it has an id. */
const connect = async (
  t: ExecutionContext,
  { redirectUri }: Pick<OAuthClient, "redirectUri">,
  options: Opening = {},
) => {
  const { url } = fixture.service;
  const client_id = options.client_id ?? (await register(url, [redirectUri], options.name));
  const { verifier: code_verifier, challenge } = newVerifier();
  const page = options.page ?? (await openPage(fixture.browser, options.view, t));
  const code_challenge = options.code_challenge === undefined ? challenge : options.code_challenge;
  await page.goto(authorizeUrl(url, { client_id, redirect_uri: redirectUri, code_challenge }));
  const given = (code: string | null) =>
    exchange(url, { client_id, code: code ?? "", code_verifier, redirect_uri: redirectUri });
  return { page, client_id, given };
};
type Opening = { name?: string; client_id?: string; page?: Page; view?: View; code_challenge?: null };

const approve = async (page: Page, client: OAuthClient): Promise<URLSearchParams> => {
  const arrival = client.next();
  await page.getByRole("checkbox").check();
  await page.getByRole("button", { name: "Approve" }).click();
  return arrival;
};

for (const view of VIEWS) {
  test(`a person connects a client and removes it on ${view.name}`, async (t) => {
    const { url } = fixture.service;
    const client = await startClient(t);
    // On the person's computer, the port does not count.
    const registered = await register(url, ["http://127.0.0.1/callback"], "Desk assistant");
    const { page, client_id, given } = await connect(t, client, { client_id: registered, view });
    t.regex(page.url(), /\/connect\/[\w-]{43}$/);
    t.true(await page.getByText("“Desk assistant”").isVisible());
    t.true(await page.getByText(new URL(client.redirectUri).host, { exact: true }).isVisible());
    t.true(await page.getByText("A program on this computer gets the access.").isVisible());
    await screenshot(page, `oauth-${view.name}`);
    t.deepEqual(await faults(page), SOUND);

    const came = await approve(page, client);
    await page.getByRole("heading", { name: "Back at the program" }).waitFor();
    t.deepEqual([came.get("state"), came.get("iss"), came.get("error")], ["state of the client", url, null]);
    const { status, text, body } = await given(came.get("code"));
    t.is(status, 200, text);
    const { access_token, refresh_token, ...rest } = body;
    t.deepEqual(rest, { token_type: "Bearer", expires_in: 3600, scope: "market" });
    t.is(await statusOf(url, access_token), 200);

    const fields = { grant_type: "refresh_token", client_id, refresh_token };
    const refreshed = await sendForm(fixture.other, "/oauth/token", fields);
    t.is(refreshed.status, 200, "another process of the service refreshes, too");
    t.is(await statusOf(url, access_token), 401);
    t.is(await statusOf(url, refreshed.body.access_token), 200);

    // The approval made an account and signed this browser in.
    await page.goto(`${url}/settings`);
    t.is(await page.getByRole("heading", { level: 2, name: "Desk assistant" }).count(), 1);
    await page.locator("summary", { hasText: "Remove" }).first().click();
    await press(page, "Remove this agent");
    t.is(await statusOf(url, refreshed.body.access_token), 401);
    t.is(await statusOf(fixture.other, refreshed.body.access_token), 401);
    const late = await sendForm(url, "/oauth/token", { ...fields, refresh_token: refreshed.body.refresh_token });
    t.deepEqual([late.status, late.body.error], [400, "invalid_grant"]);
  });
}

test("the page after Approve says where the browser goes, and is sound", async (t) => {
  const redirectUri = "https://assistant.example/callback";
  for (const view of VIEWS) {
    const page = await openPage(fixture.browser, view, t);
    // With 204, the browser stays on the page that sends it on.
    await page.route("https://assistant.example/**", (route) => route.fulfill({ status: 204 }));
    await connect(t, { redirectUri }, { name: "Assistant", page });
    t.true(await page.getByText("assistant.example", { exact: true }).isVisible());
    await page.getByRole("checkbox").check();
    await page.getByRole("button", { name: "Approve" }).click();
    await page.getByRole("heading", { name: "Assistant now acts for you" }).waitFor();
    const link = page.getByRole("link", { name: "Go back to assistant.example" });
    t.regex((await link.getAttribute("href")) ?? "", /^https:\/\/assistant\.example\/callback\?code=[\w-]{43}&state=/);
    await screenshot(page, `oauth-returning-${view.name}`);
    t.deepEqual(await faults(page), SOUND);
  }
});

test("the browser also arrives if the client's site redirects it further to another site", async (t) => {
  const app = await startClient(t);
  const site = await startClient(t, app.redirectUri.replace("127.0.0.1", "localhost"));
  const { page } = await connect(t, site);
  const refused: string[] = [];
  page.on("console", (message) => refused.push(message.text()));
  await page.getByRole("checkbox").check();
  await page.getByRole("button", { name: "Approve" }).click();
  await page.getByRole("heading", { name: "Back at the program" }).waitFor();
  t.is(new URL(page.url()).hostname, "localhost");
  t.deepEqual(
    refused.filter((text) => /Content Security Policy/.test(text)),
    [],
  );
});

test("“Not mine” sends the browser nowhere by itself, and its link tells the client", async (t) => {
  const { url } = fixture.service;
  const client = await startClient(t);
  const { page } = await connect(t, client, { name: "Strange program" });
  await press(page, "Not mine");
  t.is(await heading(page), "This agent does not act for you");
  await screenshot(page, "oauth-declined");
  t.deepEqual(await faults(page), SOUND);
  t.is(client.arrived.length, 0);
  const arrival = client.next();
  await leaveBy(page, page.getByRole("link", { name: "Go back to the program on this computer" }));
  const came = await arrival;
  t.deepEqual(
    ["error", "state", "iss", "code"].map((name) => came.get(name)),
    ["access_denied", "state of the client", url, null],
  );
});

test("a client that publishes a document about itself needs no registration", async (t) => {
  const { url } = fixture.service;
  const client = await startClient(t);
  const { page, client_id, given } = await connect(t, client, { client_id: client.document });
  t.true(await page.getByText("“Published client”").isVisible());
  t.true(await page.getByText(`It is published at ${new URL(client_id).host}.`).isVisible());
  await screenshot(page, "oauth-published");
  t.deepEqual(await faults(page), SOUND);
  const { status, body } = await given((await approve(page, client)).get("code"));
  t.is(status, 200);
  t.is(await statusOf(url, body.access_token), 200);
  t.deepEqual(await fixture.sql("select from market.oauth_client where name = 'Published client'"), []);
});

test("a person who has an account signs in first, and comes back to the same request", async (t) => {
  const { url } = fixture.service;
  const { page, account } = await fixture.newPerson(t, "First agent");
  await fixture.prove(account);
  await fixture.age(account);
  const client = await startClient(t);
  const { given } = await connect(t, client, { name: "Second assistant", page });
  const link = page.url();
  t.true(await page.getByText("lena@example.com").isVisible());
  const first = await page.getByRole("link", { name: "Sign in first" }).getAttribute("href");
  t.is(new URL(first ?? "", url).searchParams.get("return"), new URL(link).pathname);
  await fixture.sql("update market.session set signed_in_at = now() where account_id = $1", [account]);
  await page.goto(link);
  const code = (await approve(page, client)).get("code");
  // The client has the code as soon as the browser asks for its page, and the browser is on its way there.
  await page.getByRole("heading", { name: "Back at the program" }).waitFor();
  const { body } = await given(code);
  t.is(await statusOf(url, body.access_token), 200);
  await page.goto(`${url}/settings`);
  t.deepEqual((await page.locator("h2.name").allTextContents()).sort(), ["“First agent”", "“Second assistant”"]);
});

test("a request with a mistake is explained, and its link tells the client", async (t) => {
  const { url } = fixture.service;
  const client = await startClient(t);
  const { page } = await connect(t, client, { code_challenge: null });
  t.is(await heading(page), "This program cannot be connected");
  await screenshot(page, "oauth-mistake");
  t.deepEqual(await faults(page), SOUND);
  t.is(client.arrived.length, 0);
  const arrival = client.next();
  await leaveBy(page, page.getByRole("link", { name: "Go back to the program on this computer" }));
  const came = await arrival;
  t.deepEqual([came.get("error"), came.get("code"), came.get("iss")], ["invalid_request", null, url]);
});

test("a second click on Approve, after the client has its tokens, ends nothing", async (t) => {
  const { url } = fixture.service;
  const client = await startClient(t);
  const { page, given } = await connect(t, client);
  const link = page.url();
  const token = (await page.locator("input[name=token]").getAttribute("value")) ?? "";
  const click = () => page.request.post(link, { form: { token, decision: "approve" }, headers: { Origin: url } });
  const first = await click();
  const address = new URL(/^0; url=(.*)$/.exec(first.headers()["refresh"] ?? "")?.[1] ?? "");
  const [second] = await Promise.all([click(), click()]);
  t.is(second.headers()["refresh"], first.headers()["refresh"], "the same code");
  const { body } = await given(address.searchParams.get("code"));
  const third = await click();
  t.is(third.status(), 200);
  t.is(third.headers()["refresh"], undefined);
  t.is(await statusOf(url, body.access_token), 200);
});

test("the scenarios of the MCP project's conformance suite for authorization servers pass", async (t) => {
  const { url } = fixture.service;
  const port = await freePort();
  const client_id = await register(url, [`http://127.0.0.1:${port}/callback`], "Conformance suite");
  const about = ["--url", url, "--client-id", client_id, "--resource", `${url}/mcp`, "--port", String(port)];
  const suite = spawn(process.execPath, [CONFORMANCE, "authorization", ...about], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  t.teardown(async () => void suite.kill());
  const exited = once(suite, "exit");
  let printed = "";
  const request = await new Promise<string>((resolve, reject) => {
    suite.once("exit", () => reject(new Error(printed)));
    suite.stdout.setEncoding("utf8").on("data", (text: string) => {
      printed += text;
      const [address] = /^http:\S+\/oauth\/authorize\?\S+$/m.exec(printed) ?? [];
      // It prints the line after this one when it listens.
      if (address !== undefined && /^Callback server started/m.test(printed)) resolve(address);
    });
  });
  const page = await openPage(fixture.browser, undefined, t);
  await page.goto(request);
  await page.getByRole("checkbox").check();
  await page.getByRole("button", { name: "Approve" }).click();
  await exited;
  t.regex(printed, /^Total: [1-9]\d* passed, 0 failed/m, printed);
  for (const scenario of ["authorization-server-metadata-endpoint", "authorization-code-grant"])
    t.regex(printed, new RegExp(`${scenario}: [1-9]\\d* passed, 0 failed`), printed);
});

/** What both generations of the official client have in common. */
const remembering = (redirectUrl: string) => {
  const kept: { client?: unknown; tokens?: { access_token: string }; verifier?: string; sent?: URL } = {};
  const provider = {
    redirectUrl,
    clientMetadata: { client_name: "Official client", redirect_uris: [redirectUrl] },
    clientInformation: () => kept.client,
    saveClientInformation: (client: unknown) => {
      kept.client = client;
    },
    tokens: () => kept.tokens,
    saveTokens: (tokens: { access_token: string }) => {
      kept.tokens = tokens;
    },
    redirectToAuthorization: (sent: URL) => {
      kept.sent = sent;
    },
    saveCodeVerifier: (verifier: string) => {
      kept.verifier = verifier;
    },
    codeVerifier: () => kept.verifier ?? "",
  };
  return { kept, provider };
};

for (const [generation, run] of [
  [
    "first",
    (provider: unknown, options: { serverUrl: string; authorizationCode?: string }) =>
      auth(provider as OAuthClientProvider, options),
  ],
  [
    "second",
    (provider: unknown, options: { serverUrl: string; authorizationCode?: string }) =>
      auth2(provider as Provider2, options),
  ],
] as const) {
  test(`the ${generation} generation of the official MCP client finds out by itself how to get access`, async (t) => {
    const { url } = fixture.service;
    const serverUrl = `${url}/mcp`;
    const client = await startClient(t);
    const { kept, provider } = remembering(client.redirectUri);
    t.is(await run(provider, { serverUrl }), "REDIRECT");
    const page = await openPage(fixture.browser, undefined, t);
    await page.goto(String(kept.sent));
    const authorizationCode = (await approve(page, client)).get("code") ?? "";
    t.is(await run(provider, { serverUrl, authorizationCode, iss: url } as Parameters<typeof run>[1]), "AUTHORIZED");
    const first = kept.tokens?.access_token ?? "";
    t.is(await statusOf(url, first), 200);
    t.is(await run(provider, { serverUrl }), "AUTHORIZED", "it refreshes");
    t.is(await statusOf(url, first), 401);
    t.is(await statusOf(url, kept.tokens?.access_token ?? ""), 200);
  });
}

test("the inspector finds out by itself how to get access, and does the main job", async (t) => {
  const { url } = fixture.service;
  const home = await mkdtemp(join(tmpdir(), "inspector-"));
  t.teardown(() => rm(home, { recursive: true, force: true }));
  const callback = `http://127.0.0.1:${await freePort()}/callback`;
  /** Runs one method. It prints the address for the person to standard error, and waits. */
  const inspect = async (method: readonly string[], onAddress?: (address: string) => Promise<void>): Promise<Body> => {
    const server = ["--cli", `${url}/mcp`, "--transport", "http", "--callback-url", callback];
    const inspector = spawn(process.execPath, [INSPECTOR, ...server, ...method], {
      // Without a terminal, it signs in only if it may open a browser. There is none that it could find.
      env: { PATH: "", HOME: home, MCP_AUTO_OPEN_ENABLED: "true", MCP_INSPECTOR_SECRET_STORE: "file" },
      stdio: ["ignore", "pipe", "pipe"],
    });
    t.teardown(async () => void inspector.kill());
    const exited = once(inspector, "exit");
    let [answer, told, opened] = ["", "", false];
    inspector.stdout.setEncoding("utf8").on("data", (text: string) => {
      answer += text;
    });
    let opening = Promise.resolve();
    inspector.stderr.setEncoding("utf8").on("data", (text: string) => {
      told += text;
      const [address] = /http:\S+\/oauth\/authorize\?\S+(?=\s)/.exec(told) ?? [];
      if (address === undefined || opened || onAddress === undefined) return;
      opened = true;
      opening = onAddress(address);
    });
    const [code] = await exited;
    await opening;
    t.is(code, 0, told);
    t.is(opened, onAddress !== undefined, told);
    return JSON.parse(answer);
  };
  const page = await openPage(fixture.browser, undefined, t);
  const { tools } = await inspect(["--method", "tools/list"], async (address) => {
    await page.goto(address);
    await page.getByRole("checkbox").check();
    await page.getByRole("button", { name: "Approve" }).click();
    await page.waitForURL((at) => at.href.startsWith(callback));
  });
  t.true(tools.length >= 11);
  const call = (tool: string, arg: string) =>
    inspect(["--stored-auth-only", "--method", "tools/call", "--tool-name", tool, "--tool-arg", arg]);
  const published = await call("publish_offer", `text=${SOFA}`);
  t.is(published.structuredContent.status, "published", JSON.stringify(published));
  const found = await call("search_offers", "query=grey sofa");
  t.true(found.structuredContent.results.some(({ id }: Body) => id === published.structuredContent.offer_id));
});
