import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import pgvector from "pgvector";
import { createBuiltinEmbedder } from "../../src/reader/embed/embedder.ts";
import { seedMeaning } from "../reader/vocabulary.ts";
import { withClient } from "../support/client.ts";
import { runPgbench, type Statement } from "./pgbench.ts";
import { startSphinx } from "./sphinx.ts";
import { modelOf } from "./texts.ts";

/**
 * Other searches over the texts of the same offers, in the same run: what the same machine can do without HTTP, rights,
 * places, currencies and documents.
 *
 *   supabase  hybrid search as Supabase documents it: a table with a generated tsvector and a vector, each with its index,
 *             and one SQL function that fuses the ranks of both (reciprocal rank fusion). As documented, the ranks of the
 *             vector half are numbered before they are limited, so that PostgreSQL sorts the whole table
 *   fixed     the same, with the vector half limited first, so that the HNSW index is used
 *   Sphinx    Debian's sphinxsearch, by its own protocol. Words only, no vectors
 *   Xapian    Debian's python3-xapian, in process, in as many processes as there are processors. Words only, no vectors
 */

/** A kind of search that all peers can do. */
export type PeerQuery = {
  words: string | null;
  /** Any of the words is enough, as for a sentence. Otherwise all are wanted. */
  any?: true;
  filters?: { domain: string; currency: string; most: number };
};

/** A measured peer: its name, and one side of a measurement. Returns the searches a second. */
type Peer = { name: string; measure: (queries: PeerQuery[], seconds: number) => Promise<number> };

const embedder = createBuiltinEmbedder(seedMeaning);
const run = promisify(execFile);

/** The processors for which the goals are stated. */
const PROCESSORS = 2;
const PYTHON = "/usr/bin/python3";
const XAPIAN = fileURLToPath(new URL("search_by_xapian.py", import.meta.url));
/** Rows fetched at a time. They make about a megabyte. */
const BATCH = 2_000;

/** The kinds of search for which the table of the peers has a column. */
export const peerQueries = (offers: number): Record<string, PeerQuery[]> => ({
  "common words": [{ words: "good condition sofa" }, { words: "blue sofa in good condition" }],
  "a rare word": Array.from({ length: 12 }, (_, n) => ({ words: modelOf(Math.floor((n * offers) / 12)) })),
  filters: [
    { words: "sofa", filters: { domain: "home_garden", currency: "GBP", most: 300 } },
    { words: "laptop", filters: { domain: "electronics", currency: "EUR", most: 500 } },
  ],
  "a sentence": [
    { words: "I am looking for a comfortable sofa for a small flat near the centre", any: true },
    { words: "who can lend me a bicycle for a weekend in the city", any: true },
  ],
});

const TABLE = `
  create schema supabase;
  grant usage on schema supabase to souk_api;
  create table supabase.documents (
    id bigint generated always as identity primary key,
    content text not null,
    domain text not null,
    currency text,
    price numeric,
    fts tsvector generated always as (to_tsvector('english', content)) stored,
    embedding public.vector(512) not null);
  insert into supabase.documents (content, domain, currency, price, embedding)
  select o.text, o.domain, o.price_currency, o.price_thousandths / 1000.0, e.embedding::public.vector(512)
  from market.offer o join market.offer_embedding e on e.offer_id = o.id where o.status = 'published';
  create index on supabase.documents using gin (fts);
  create index on supabase.documents (domain, currency, price);
  create index on supabase.documents using hnsw (embedding public.vector_ip_ops);
  grant select on supabase.documents to souk_api;
  analyze supabase.documents`;

/** Which rows pass, for both halves. Supabase's function has no filters; an application adds them like this. */
const PASSES = `(wanted_domain is null or d.domain = wanted_domain)
      and (wanted_currency is null or d.currency = wanted_currency) and (highest is null or d.price <= highest)`;

/** The semantic half: the ranks of the nearest rows, numbered over the whole table or over those that HNSW returns. */
const SEMANTIC = {
  documented: `select d.id, row_number() over (order by d.embedding operator(public.<#>) near) as rank
    from supabase.documents d where ${PASSES} order by rank limit least(most, 30) * 2`,
  fixed: `select n.id, row_number() over (order by n.distance) as rank from (
      select d.id, d.embedding operator(public.<#>) near as distance from supabase.documents d where ${PASSES}
      order by distance limit least(most, 30) * 2) as n`,
} as const;

const hybridSearch = (name: keyof typeof SEMANTIC): string => `
  create function supabase.${name}(words text, near public.vector(512), most integer, wanted_domain text,
    wanted_currency text, highest numeric, full_text_weight double precision default 1,
    semantic_weight double precision default 1, rrf_k integer default 50) returns setof supabase.documents
  language sql stable as $$
  with full_text as (
    select d.id, row_number() over (order by ts_rank_cd(d.fts, websearch_to_tsquery('english', words)) desc) as rank
    from supabase.documents d where d.fts @@ websearch_to_tsquery('english', words) and ${PASSES}
    order by rank limit least(most, 30) * 2
  ), semantic as (${SEMANTIC[name]})
  select d.* from full_text f full join semantic s using (id) join supabase.documents d using (id)
  order by coalesce(1.0 / (rrf_k + f.rank), 0) * full_text_weight
    + coalesce(1.0 / (rrf_k + s.rank), 0) * semantic_weight desc
  limit least(most, 30) $$;
  grant execute on function supabase.${name} to souk_api`;

const supabase = async (
  name: keyof typeof SEMANTIC,
  server: Parameters<typeof runPgbench>[0],
  connections: number,
): Promise<Peer> => ({
  name: name === "documented" ? "Supabase's hybrid search, as documented" : "the same, fixed to use HNSW",
  async measure(queries, seconds) {
    const statements = queries.map(async ({ words, any, filters }): Promise<Statement> => {
      const [vector] = await embedder.embed([words ?? ""], AbortSignal.timeout(5_000));
      return {
        // Only what an application shows: a bare vector would be most of the traffic.
        text: `select id, content from supabase.${name}($1::text, $2::public.vector(512), 10, $3::text, $4::text, $5::numeric)`,
        values: [
          any ? (words ?? "").split(" ").join(" or ") : words,
          vector ? pgvector.toSql(vector) : null,
          filters?.domain ?? null,
          filters?.currency ?? null,
          filters ? String(filters.most) : null,
        ],
      };
    });
    const options = { connections, threads: PROCESSORS, seconds };
    return (await runPgbench(server, await Promise.all(statements), options)).rate;
  },
});

/** Writes the offers as lines of: id, title, text, domain, price, currency. Returns the file. */
const exportOffers = async (url: string, directory: string): Promise<string> => {
  const file = join(directory, "offers.tsv");
  const out = createWriteStream(file);
  await withClient(url, async (client) => {
    await client.query("begin");
    await client.query(
      `declare offers cursor for
       select concat_ws(e'\\t', row_number() over (), translate(o.title, e'\\t\\n', '  '), translate(o.text, e'\\t\\n', '  '),
         o.domain, round(coalesce(o.price_thousandths, 0) / 1000.0)::bigint, coalesce(o.price_currency, 'none')) as line
       from market.offer o where o.status = 'published'`,
    );
    for (;;) {
      const { rows } = await client.query<{ line: string }>(`fetch ${BATCH} from offers`);
      if (rows.length === 0) break;
      if (!out.write(rows.map(({ line }) => `${line}\n`).join(""))) await once(out, "drain");
    }
    await client.query("commit");
  });
  out.end();
  await once(out, "finish");
  return file;
};

/** A query in Sphinx's language. */
const toSphinx = ({ words, any, filters }: PeerQuery): string => {
  const match = words === null ? "" : `match('${any ? words.split(" ").join(" | ") : words}')`;
  const conditions = [
    match,
    ...(filters
      ? [`domain = '${filters.domain}'`, `currency = '${filters.currency}'`, `price <= ${filters.most}`]
      : []),
  ].filter((condition) => condition !== "");
  return `select id, title from offers where ${conditions.join(" and ")} limit 10`;
};

const openXapian = async (tsv: string, directory: string): Promise<(Peer & { stop: () => void }) | null> => {
  const installed = await run(PYTHON, ["-c", "import xapian"]).then(
    () => true,
    () => false,
  );
  if (!installed) return null;
  const folder = join(directory, "xapian");
  await run(PYTHON, [XAPIAN, "index", tsv, folder]);
  const child = spawn(PYTHON, [XAPIAN, "serve", folder], { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    name: `Xapian, in ${PROCESSORS} processes`,
    async measure(queries, seconds) {
      const asked = queries.map(({ filters, ...rest }) => ({ ...rest, ...filters }));
      child.stdin.write(`${JSON.stringify({ queries: asked, seconds, processes: PROCESSORS })}\n`);
      const { value, done } = await lines.next();
      if (done) throw new Error("Xapian ended.");
      return (JSON.parse(value) as { rate: number }).rate;
    },
    // It ends with its input.
    stop: () => void child.stdin.end(),
  };
};

/**
 * Prepares the peers that are installed, over the published offers of a market.
 * @param url a superuser's URL of the market's database
 * @returns the peers, and a line for each one that is missing
 */
export const openPeers = async (
  url: string,
  server: Parameters<typeof runPgbench>[0],
  options: { directory: string; connections: number; tell: (what: string) => void },
): Promise<{ peers: Peer[]; missing: string[]; stop: () => Promise<void> }> => {
  const { directory, connections, tell } = options;
  tell("peers: Supabase's table and indexes");
  await withClient(url, async (client) => {
    await client.query("set maintenance_work_mem = '1GB'");
    await client.query(TABLE);
    for (const name of ["documented", "fixed"] as const) await client.query(hybridSearch(name));
    await client.query("vacuum analyze supabase.documents");
  });
  tell("peers: Sphinx and Xapian");
  const tsv = await exportOffers(url, directory);
  const [sphinx, xapian] = [await startSphinx(tsv, directory), await openXapian(tsv, directory)];
  const peers = [await supabase("documented", server, connections), await supabase("fixed", server, connections)];
  if (sphinx) {
    peers.push({
      name: "Sphinx",
      measure: async (queries, seconds) => (await sphinx.measure(queries.map(toSphinx), connections, seconds)).rate,
    });
  }
  if (xapian) peers.push(xapian);
  return {
    peers,
    missing: [
      ...(sphinx ? [] : ["Sphinx is not measured, because it is not installed: apt-get install sphinxsearch."]),
      ...(xapian ? [] : ["Xapian is not measured, because it is not installed: apt-get install python3-xapian."]),
    ],
    stop: async () => {
      xapian?.stop();
      await sphinx?.stop();
      await withClient(url, (client) => client.query("drop schema supabase cascade"));
    },
  };
};
