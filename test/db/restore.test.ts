import { chown, mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import test from "ava";
import { urlOf } from "../support/client.ts";
import { assertInvariants } from "../support/invariants.ts";
import { type Agent, type Answer, call, connectedAgent, eventually, SOFA, withoutPage } from "../support/market.ts";
import { type Cluster, startCluster } from "../support/postgres.ts";
import { startMarketCluster } from "../support/prepared.ts";
import { programsFor } from "../support/programs.ts";
import { type Service, startService } from "../support/service.ts";
import { sql, sqlValue } from "../support/sql.ts";
import { runCommands } from "./backup_commands.ts";

/**
 * A base backup that is made under load and restored into an empty cluster, by the commands of the guide to backups. Dumps
 * are tested in backup.test.ts.
 *
 *   ledger  what the load was told by 201, with the times of the request and of the answer
 *   moment  the time to which the backup is restored
 */

const DATABASE = "souk";
/** What a server needs for archiving; test clusters are started without. The commands set the rest. */
const ARCHIVING = { wal_level: "replica", max_wal_senders: "5", synchronous_commit: "on" };
const PAUSE_MS = 20;
/** Enough texts on each side of a moment that one of them is being read at the moment itself. */
const SOME = 8;

type Told = { key: string; begun: Date; answered: Date; body: Answer["body"] };

let folder: string;
let original: Cluster;
let empty: Cluster;
let service: Service;
let agents: Agent[];
let owner: { uid: number; gid: number };
const ledger: Told[] = [];
let over = false;
let load: Promise<unknown>;

const publish = (url: string, { token }: Agent, key: string): Promise<Answer> =>
  call(url, "POST", "/v1/offers", {
    body: { text: SOFA },
    headers: { authorization: `Bearer ${token}`, "idempotency-key": key },
  });

const keepPublishing = async (agent: Agent, name: string): Promise<void> => {
  for (let number = 1; !over; number++) {
    const key = `${name} ${number}`;
    const begun = new Date();
    const { status, body } = await publish(service.url, agent, key);
    if (status === 201) ledger.push({ key, begun, answered: new Date(), body });
    await sleep(PAUSE_MS);
  }
};

const untilMade = (more: number) => {
  const wanted = ledger.length + more;
  return eventually(
    async () => ledger.length,
    (made) => made >= wanted,
  );
};

test.before(async () => {
  folder = await mkdtemp(join(tmpdir(), "souk-restore-"));
  [original, empty] = await Promise.all([startMarketCluster(ARCHIVING), startCluster(ARCHIVING)]);
  owner = await stat(original.directory);
  await chown(folder, owner.uid, owner.gid);
  const env = { ...(await programsFor(original.url)), BACKUP: folder };
  await runCommands("archive", { cwd: folder, env, ...owner });
  await original.halt("fast");
  await original.start();
  const { url } = original;
  // The cap of 60 texts an hour would end the load early.
  await sql(url, "update market.setting set value = '1000' where name = 'publish_offer_cap'");
  service = await startService({ database: url, env: { CONNECTIONS_PER_HOUR: "1000" } });
  agents = await Promise.all([1, 2].map(() => connectedAgent(service.url, url)));
  load = Promise.all(agents.map((agent, number) => keepPublishing(agent, `agent ${number}`)));
  await untilMade(SOME);
});
test.after.always(async () => {
  over = true;
  await load?.catch(() => {});
  await service?.stop();
  await empty?.destroy();
  await original?.destroy();
  if (folder) await rm(folder, { recursive: true, force: true });
});

type Context = Parameters<typeof assertInvariants>[0] & {
  is: (one: unknown, other: unknown, message?: string) => unknown;
  true: (value: boolean, message?: string) => unknown;
};

/** Starts the service on a restored cluster, and compares what it has with the ledger. */
const assertRestored = async (t: Context, cluster: Cluster, moment: Date): Promise<Set<string>> => {
  const url = urlOf(cluster.url, DATABASE);
  const restored = await startService({ database: url, env: { CONNECTIONS_PER_HOUR: "1000" } });
  try {
    const rows = await sql<{ id: string }>(url, "select id from market.offer");
    const found = new Set(rows.map(({ id }) => id));
    const before = ledger.filter(({ answered }) => answered < moment);
    t.true(before.length >= SOME, `${before.length} texts before the moment`);
    for (const { key, body } of before) {
      t.true(found.has(body.offer_id), `${key} was acknowledged before the moment`);
    }
    const [agent] = agents as [Agent];
    const known = before.find(({ key }) => key.startsWith("agent 0 "));
    const replayed = await publish(restored.url, agent, known?.key ?? "");
    t.is(replayed.headers["idempotency-replayed"], "true", "an old key replays");
    t.deepEqual(withoutPage(replayed.body), withoutPage(known?.body));
    const fresh = await publish(restored.url, agent, "after the restore");
    t.is(fresh.status, 201, fresh.text);
    // Texts that were being read at the moment are read now.
    await eventually(
      () => sqlValue<number>(url, "select count(*)::int from market.submission where completed_at is null"),
      (open) => open === 0,
    );
    await assertInvariants(t, url);
    return found;
  } finally {
    await restored.stop();
  }
};

test.serial("a base backup made under load is restored to the moment before a mistake, and works", async (t) => {
  const env = { ...(await programsFor(original.url)), BACKUP: folder };
  await runCommands("base backup", { cwd: folder, env, ...owner });
  await untilMade(SOME);
  const moment = new Date();
  await untilMade(SOME);
  over = true;
  await load;
  await sql(original.url, "truncate market.offer cascade");
  // A server archives by itself once a minute. This does so at once.
  const segment = await sqlValue<string>(original.url, "select pg_walfile_name(pg_switch_wal())");
  await eventually(
    () => sqlValue<boolean>(original.url)`select last_archived_wal >= ${segment} from pg_stat_archiver`,
    (archived) => archived,
  );

  await empty.halt("immediate");
  const PGDATA = join(empty.directory, "data");
  await rm(PGDATA, { recursive: true });
  await runCommands("restore to a point", {
    cwd: folder,
    env: { ...env, PGDATA, POINT: moment.toISOString().replace("Z", "+00") },
    ...owner,
  });
  await empty.start();
  await eventually(
    () => sqlValue<boolean>(empty.url, "select pg_is_in_recovery()"),
    (recovering) => !recovering,
  );
  const found = await assertRestored(t, empty, moment);
  const later = ledger.filter(({ begun }) => begun > moment);
  t.true(later.length >= SOME / 2, `${later.length} texts after the moment`);
  for (const { key, body } of later) t.false(found.has(body.offer_id), `${key} came after the moment`);
});
