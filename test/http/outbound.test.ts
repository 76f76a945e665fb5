import { createHook } from "node:async_hooks";
import { promises as dns, type LookupAddress } from "node:dns";
import type { LookupFunction } from "node:net";
import { createServer } from "node:net";
import test from "ava";
import { findDocuments } from "../../src/assistants/oauth/client_document.ts";
import { createLookup } from "../../src/base/lookup.ts";
import { newWebhookSecret } from "../../src/webhooks/secrets.ts";
import { createSend } from "../../src/webhooks/send.ts";
import { until } from "../support/market.ts";
import { serveNames } from "../support/nameserver.ts";
import { listenOn } from "../support/raw_server.ts";

/** How the names in addresses of strangers are resolved. Their nameservers are the strangers' too. */

/** No time limit of ours ends what waits for a nameserver, so only the nameserver's answers count. */
const PATIENT_MS = 2 ** 31 - 1;

const resolverOf = (nameserver: { address: string }): dns.Resolver => {
  const resolver = new dns.Resolver({ timeout: PATIENT_MS, maxTimeout: PATIENT_MS, tries: 1 });
  resolver.setServers([nameserver.address]);
  return resolver;
};

/** Calls a lookup as dns.lookup is called. */
const ask = (lookup: LookupFunction, name: string, options: { all?: boolean; family?: number } = {}) =>
  new Promise<string | LookupAddress[]>((resolve, reject) =>
    lookup(name, options, (error, found) => (error ? reject(error) : resolve(found))),
  );

const sendable = (url: string) => ({
  ...{ id: "e", url, secret: newWebhookSecret(), body: "{}", isChallenge: false },
  admit: async () => true,
});
const never = new AbortController().signal;
const UNREACHABLE = "The receiver cannot be reached from the internet.";

test("names whose nameservers are silent keep no other lookup of the process waiting", async (t) => {
  const nameserver = await serveNames(t, { "answered.example": ["93.184.215.14"] });
  const resolver = resolverOf(nameserver);
  const lookup = createLookup(resolver);
  const send = createSend({ anyAddress: false, lookup, mostMs: PATIENT_MS });
  // Many more than libuv has threads.
  const names = Array.from({ length: 50 }, (_, n) => `silent-${n}.example`);
  let ended = 0;
  const attempts = names.map(async (name) => {
    const { error } = (await send(sendable(`https://${name}/`), never)) ?? {};
    ended += 1;
    return error;
  });
  await until(() => names.filter((name) => nameserver.asked().includes(name)).length === names.length);
  // By getaddrinfo, on libuv's threads, as pg and the clients of OpenID do it.
  t.true((await dns.lookup("localhost", { all: true })).length > 0);
  t.is(await ask(lookup, "answered.example"), "93.184.215.14");
  t.is(ended, 0);
  resolver.cancel();
  t.deepEqual(new Set(await Promise.all(attempts)), new Set([UNREACHABLE]));
});

test("a name that leads to an address of ours is refused, also if only one of several does", async (t) => {
  let connections = 0;
  const server = createServer(() => {
    connections += 1;
  });
  const port = await listenOn(t, server);
  const names = {
    "ours.example": ["127.0.0.1"],
    "mixed.example": ["93.184.215.14", "127.0.0.1"],
    "inside.example": ["10.0.0.1"],
    "meta.example": ["0.0.0.0"],
    "machine.example": ["169.254.169.254"],
  };
  const nameserver = await serveNames(t, names);
  const lookup = createLookup(resolverOf(nameserver));
  const send = createSend({ anyAddress: false, lookup, mostMs: PATIENT_MS });
  const find = findDocuments(false, lookup);
  for (const name of Object.keys(names)) {
    t.is((await send(sendable(`https://${name}:${port}/`), never))?.error, UNREACHABLE, name);
    const refusal = await t.throwsAsync(find(`https://${name}:${port}/client.json`), { any: true }, name);
    t.regex((refusal as unknown as { detail: string }).detail, /cannot be reached there from the internet/, name);
    t.is(nameserver.asked().filter((asked) => asked === name).length, 4, "two types of addresses, for each request");
  }
  t.is(connections, 0);
});

test("a lookup is called as dns.lookup is, and says so if there is nothing", async (t) => {
  const nameserver = await serveNames(t, { "two.example": ["93.184.215.14", "93.184.215.15"], "none.example": [] });
  const lookup = createLookup(resolverOf(nameserver));
  const both = ["93.184.215.14", "93.184.215.15"].map((address) => ({ address, family: 4 }));
  t.deepEqual(await ask(lookup, "two.example", { all: true }), both);
  t.deepEqual(await ask(lookup, "two.example", { all: true, family: 4 }), both);
  t.is(await ask(lookup, "two.example"), "93.184.215.14");
  await t.throwsAsync(ask(lookup, "two.example", { family: 6 }), { code: "ENODATA" });
  await t.throwsAsync(ask(lookup, "none.example", { all: true }), { code: "ENODATA" });
});

// Serial, because it counts all lookups of the process.
test.serial("no thread of the process waits for the name of a webhook or of a client", async (t) => {
  const requests: string[] = [];
  const hook = createHook({ init: (_id, type) => void requests.push(type) });
  hook.enable();
  await createSend({ anyAddress: false })(sendable("https://nowhere.invalid/"), never);
  await t.throwsAsync(findDocuments(false)("https://nowhere.invalid/client.json"), { any: true });
  hook.disable();
  const lookups = requests.filter((type) => /^(QUERYWRAP|GETADDRINFOREQWRAP)$/.test(type));
  // The addresses of IPv4 and of IPv6, for each.
  t.deepEqual(lookups, ["QUERYWRAP", "QUERYWRAP", "QUERYWRAP", "QUERYWRAP"]);
});
