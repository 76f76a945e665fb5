import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import test from "ava";
import { argumentNamesOf } from "../../src/api/arguments.ts";
import { ENDPOINTS } from "../../src/api/endpoints.ts";
import { market } from "./one_market.ts";

/**
 * Compares the calls of SQL functions in TypeScript with the arguments that the functions take. What the buttons of the
 * settings call is tried by pages/settings_http.
 */

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** A call in a source: the names of its arguments, or their number if they are positional. */
type Written = { where: string; name: string; names?: string[]; count?: number };

type Signature = { all: string[]; required: string[] };

/** The arguments of each function of a schema: all of them, and those without a default. */
const signaturesOf = async (schema: string): Promise<Map<string, Signature>> => {
  const rows = await market.sql`select proname as name, coalesce(proargnames[1:pronargs], '{}') as names, pronargs -
    pronargdefaults as required
    from pg_proc where pronamespace = ${schema}::regnamespace and prokind = 'f'
    order by proname`;
  return new Map(
    rows.map(({ name, names, required }) => [
      String(name),
      { all: names as string[], required: (names as string[]).slice(0, Number(required)) },
    ]),
  );
};

/** The errors in calls, one line each. */
const faultsOf = (calls: readonly Written[], signatures: Map<string, Signature>): string[] =>
  calls.flatMap(({ where, name, names, count }) => {
    const signature = signatures.get(name);
    if (signature === undefined) return [`${where}: there is no function ${name}`];
    const { all, required } = signature;
    if (count !== undefined) {
      const fits = required.length <= count && count <= all.length;
      return fits ? [] : [`${where}: ${name} takes ${required.length} to ${all.length} arguments, not ${count}`];
    }
    return [
      ...(names ?? []).filter((one) => !all.includes(one)).map((one) => `${where}: ${name} has no argument ${one}`),
      ...required.filter((one) => !names?.includes(one)).map((one) => `${where}: ${name} lacks its argument ${one}`),
    ];
  });

const sourcesIn = async (folder: string): Promise<{ path: string; text: string }[]> => {
  const files = await readdir(join(ROOT, folder), { recursive: true });
  return Promise.all(
    files
      .filter((file) => file.endsWith(".ts"))
      .map(async (file) => {
        const text = await readFile(join(ROOT, folder, file), "utf8");
        return { path: join(folder, file), text: text.replace(/^\s*\/\/.*$/gm, "") };
      }),
  );
};

/** The text from `from` to the bracket that closes the list there, split at its commas. */
const listFrom = (text: string, from: number): string[] => {
  const parts: string[] = [];
  let depth = 0;
  let start = from;
  for (let at = from; at < text.length; at++) {
    const sign = text[at] ?? "";
    if ("([{".includes(sign)) depth += 1;
    if (")]}".includes(sign)) depth -= 1;
    if (depth < 0 || (depth === 0 && sign === ",")) {
      parts.push(text.slice(start, at).trim());
      start = at + 1;
    }
    if (depth < 0) break;
  }
  return parts.filter((part) => part !== "");
};

/** Calls of functions in schemas api and admin, with named arguments: `call(actor, "name", { ... })`, without an actor, or `ask`. */
const apiCallsOf = ({ path, text }: { path: string; text: string }): Written[] =>
  Array.from(text.matchAll(/\b(?:call|ask)(?:<[^()]*?>)?\((?=[^()]*?"\w+",\s*\{|\{)/g)).flatMap((match): Written[] => {
    const parts = listFrom(text, match.index + match[0].length);
    const at = parts.findIndex((part) => /^"\w+"$/.test(part));
    const [name = "", args = ""] = at === -1 || at > 1 ? [] : parts.slice(at);
    if (!args.startsWith("{") || args.includes("...")) return [];
    const names = listFrom(args, 1).map((part) => /^\w+/.exec(part)?.[0] ?? part);
    return [{ where: path, name: name.slice(1, -1), names }];
  });

/** Calls of functions in schema jobs, with positional arguments: `call<Result>("name", ...)`. */
const jobsCallsOf = ({ path, text }: { path: string; text: string }): Written[] =>
  Array.from(text.matchAll(/\bcall(?:<[^()]*?>)?\(\s*(?=")/g)).map((match) => {
    const [name = "", ...args] = listFrom(text, match.index + match[0].length);
    return { where: path, name: name.slice(1, -1), count: args.length };
  });

test("endpoints pass their functions all required arguments and no unknown ones", async (t) => {
  const calls = ENDPOINTS.flatMap((endpoint): Written[] =>
    endpoint.function === undefined
      ? []
      : [{ where: endpoint.operationId, name: endpoint.function, names: argumentNamesOf(endpoint) }],
  );
  t.true(calls.length > 20);
  t.deepEqual(faultsOf(calls, await signaturesOf("api")), []);
});

test("pages and handlers pass functions all required arguments and no unknown ones", async (t) => {
  const sources = await sourcesIn("src");
  for (const [schema, isOwn, least] of [
    ["api", false, 10],
    ["admin", true, 10],
  ] as const) {
    const calls = sources.filter(({ path }) => path.startsWith("src/admin/") === isOwn).flatMap(apiCallsOf);
    t.true(calls.length >= least, `${calls.length} calls of ${schema} were found`);
    t.deepEqual(faultsOf(calls, await signaturesOf(schema)), []);
  }
});

test("the worker passes functions the right number of arguments", async (t) => {
  const calls = (await sourcesIn("worker")).flatMap(jobsCallsOf);
  t.true(calls.length >= 15, `${calls.length} calls were found`);
  t.deepEqual(faultsOf(calls, await signaturesOf("jobs")), []);
});

test("a call with a wrong, missing or superfluous argument is detected", (t) => {
  const signatures = new Map([["get_offer", { all: ["id", "detail"], required: ["id"] }]]);
  const source = (text: string) => ({ path: "a.ts", text });
  const api = apiCallsOf(source('await database.call(actor, "get_offer", { ident: offer.id });'));
  t.deepEqual(faultsOf(api, signatures), [
    "a.ts: get_offer has no argument ident",
    "a.ts: get_offer lacks its argument id",
  ]);
  const jobs = jobsCallsOf(source('await call<A | null>("get_offer", id, f(a, b), c); await call("get_offer", id);'));
  t.deepEqual(faultsOf(jobs, signatures), ["a.ts: get_offer takes 1 to 2 arguments, not 3"]);
  t.deepEqual(faultsOf([{ where: "a.ts", name: "get_ask" }], signatures), ["a.ts: there is no function get_ask"]);
});

test("a permission that an endpoint names is a row of market.permission", async (t) => {
  const rows = await market.sql("select permission from market.permission");
  const known = new Set(rows.map(({ permission }) => String(permission)));
  const named = ENDPOINTS.flatMap(({ permission }) => permission ?? []);
  t.true(named.length > 5);
  t.deepEqual(
    named.filter((permission) => !known.has(permission)),
    [],
  );
});
