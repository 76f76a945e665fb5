import { readFile } from "node:fs/promises";
import { join } from "node:path";
import test from "ava";
import { DATA, parseRows } from "../../src/install/data_files.ts";
import { readSchema } from "../../src/install/schema_files.ts";
import { type Token, tokensOf } from "./sql_tokens.ts";

/**
 * What the SQL of db/schema says to callers stands in db/data/sentence.tsv.
 *
 *   saying   a place that names sentences, and the parameters that it gives them; null if it passes on what it was given
 */

type Saying = { names: string[]; params: string[] | null };

/** Functions that say a sentence, with the place of its name and of the parameters among their arguments. */
const SAY: Readonly<Record<string, readonly [name: number, params: number]>> = {
  raise_problem: [2, 3],
  sentence: [0, 1],
  next_step: [0, 3],
  oauth_error: [1, Number.NaN],
  count_by_address: [3, Number.NaN],
};

const textOf = ({ text }: Token): string => text.slice(1, -1).replaceAll("''", "'");

/** The arguments of the call whose name is the token at a place, each as its tokens. Empty if it is no call. */
const argumentsOf = (tokens: readonly Token[], at: number): Token[][] => {
  if (tokens[at + 1]?.text !== "(") return [];
  const args: Token[][] = [[]];
  for (let depth = 1, next = at + 2; ; next += 1) {
    const token = tokens[next];
    if (token === undefined) return [];
    if (/^[([]$/.test(token.text)) depth += 1;
    if (/^[)\]]$/.test(token.text)) depth -= 1;
    if (depth === 0) return args;
    if (depth === 1 && token.text === ",") args.push([]);
    else args.at(-1)?.push(token);
  }
};

/** The names that an argument can be: its literal, or those behind `then` and `else`. */
const namesIn = (arg: readonly Token[] = []): string[] =>
  arg.flatMap((token, at) =>
    token.kind === "literal" && (arg.length === 1 || /^(?:then|else)$/.test(arg[at - 1]?.text ?? ""))
      ? [textOf(token)]
      : [],
  );

/** The members of an argument that is a call of jsonb_build_object. */
const membersOf = (arg: readonly Token[] = []): Map<string, Token[]> => {
  const args = arg[0]?.text === "jsonb_build_object" ? argumentsOf(arg, 0) : [];
  return new Map(args.flatMap((key, n) => (n % 2 === 0 ? [[textOf(key[0] as Token), args[n + 1] ?? []]] : [])));
};

const sayingsOf = (tokens: readonly Token[]): Saying[] =>
  tokens.flatMap(({ text, kind }, at): Saying[] => {
    if (kind === "literal" && /^'\[?\{"pointer"/.test(text))
      return [JSON.parse(textOf({ kind, text }))].flat().map(({ detail }) => ({ names: [detail], params: [] }));
    if (text === "jsonb_build_object") {
      const members = membersOf(tokens.slice(at));
      if (!members.has("pointer")) return [];
      return [{ names: namesIn(members.get("detail")), params: [...membersOf(members.get("params")).keys()] }];
    }
    const place = tokens[at - 1]?.text === "." && tokens[at - 2]?.text === "internal" ? SAY[text] : undefined;
    if (place === undefined) return [];
    const args = argumentsOf(tokens, at);
    const given = args[place[1]];
    const isNamed = given?.[1]?.text === "=>";
    const params = given === undefined || isNamed ? [] : [...membersOf(given).keys()];
    return [{ names: namesIn(args[place[0]]), params: given && !isNamed && params.length === 0 ? null : params }];
  });

const sentences = async (): Promise<Map<string, string[]>> => {
  const { rows } = parseRows("sentence.tsv", await readFile(join(DATA, "sentence.tsv"), "utf8"));
  return new Map(
    rows.map(([name, words]) => [name ?? "", [...(words ?? "").matchAll(/\{(\w+)\}/g)].map(([, p]) => p ?? "")]),
  );
};

test("what the database says stands in one table, each row is said, and each parameter is given", async (t) => {
  const known = await sentences();
  const tokens = tokensOf((await readSchema()).sql).filter(({ kind }) => !/^(?:space|newline|comment)$/.test(kind));
  const sayings = sayingsOf(tokens);
  t.true(sayings.length > 100);
  t.deepEqual(
    sayings.flatMap(({ names }) => names).filter((name) => !known.has(name)),
    [],
    "a sentence that is not in the table",
  );
  const literals = tokens.flatMap((token) => (token.kind === "literal" ? textOf(token).match(/[a-z_]+/g) : [])) ?? [];
  const said = new Set(literals);
  t.deepEqual(
    [...known.keys()].filter((name) => !said.has(name)),
    [],
    "a row that nothing says",
  );
  for (const { names, params } of sayings) {
    const wanted = new Set(names.flatMap((name) => known.get(name) ?? []));
    if (names.length > 0) t.deepEqual(params?.toSorted(), [...wanted].sort(), names.join());
  }
});
