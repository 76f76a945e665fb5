/**
 * The dashboard for Grafana: `npm run -s dashboard` prints it, to be imported there. Panels stand in pairs, after a row
 * of figures that are red when somebody has to act.
 */

type Panel = {
  title: string;
  /** What it shows, and where to look next. */
  about: string;
  /** Grafana's name of the unit. */
  unit: string;
  /** Expressions of PromQL by their legend, in which {{label}} is the value of a label. */
  series: Readonly<Record<string, string>>;
  /** A figure instead of a graph: the value from which it is red. */
  redFrom?: number;
  /** As wide as two panels. */
  wide?: true;
};

/** How often a second something is counted, by labels. */
const rates = (by: string, metric: string): string => `sum by (${by}) (rate(${metric}[$__rate_interval]))`;

/** The value of a histogram that so many of all stay below, by labels. */
const quantile = (share: number, by: string, metric: string): string =>
  `histogram_quantile(${share}, ${rates(`${by}, le`, `${metric}_bucket`)})`;

const PANELS: readonly Panel[] = [
  {
    title: "Broken invariants",
    about: "Rows that break a rule of the market. Not 0: select * from inspect.check().",
    unit: "short",
    redFrom: 1,
    series: { "{{invariant}}": "max by (invariant) (souk_invariant_violations) > 0 or vector(0)" },
  },
  {
    title: "Heartbeat of workers",
    about: "Since any worker last said that it lives. Over 30 s: none does. See inspect.workers.",
    unit: "s",
    redFrom: 30,
    series: { "": "min(souk_worker_heartbeat_age_seconds)" },
  },
  {
    title: "Texts that wait",
    about: "For how long the oldest text has waited to be read. See inspect.submissions_waiting.",
    unit: "s",
    redFrom: 30,
    series: { "": "max(souk_submission_oldest_seconds)" },
  },
  {
    title: "Database",
    about: "Processes that the database does not answer.",
    unit: "short",
    redFrom: 1,
    series: { "": "count(souk_database_up == 0) or vector(0)" },
  },
  {
    title: "Requests",
    about: "By operation.",
    unit: "reqps",
    series: { "{{operation}}": rates("operation", "souk_http_request_duration_seconds_count") },
  },
  {
    title: "Errors of the service",
    about: "Answers of 500 and above, as a share of all. 503 with locks: see inspect.blocked.",
    unit: "percentunit",
    series: {
      "{{status}}":
        'sum by (status) (rate(souk_http_request_duration_seconds_count{status=~"5.."}[$__rate_interval])) / ignoring(status) group_left sum(rate(souk_http_request_duration_seconds_count[$__rate_interval]))',
    },
  },
  {
    title: "Latency, 99th percentile",
    about: "By operation.",
    unit: "s",
    series: { "{{operation}}": quantile(0.99, "operation", "souk_http_request_duration_seconds") },
  },
  {
    title: "Latency, median",
    about: "By operation.",
    unit: "s",
    series: { "{{operation}}": quantile(0.5, "operation", "souk_http_request_duration_seconds") },
  },
  {
    title: "Refusals",
    about: "Answers of 400 to 499. 429: see inspect.why_429.",
    unit: "reqps",
    series: { "{{status}}": rates("status", 'souk_http_request_duration_seconds_count{status=~"4.."}') },
  },
  {
    title: "Pools",
    about:
      "Connections in use, and calls that wait. Callers take turns: calls wait for their turn while one caller has many open, or when the database is slow or DATABASE_POOL_SIZE too small. Refused (429): calls of callers with too many waiting. See inspect.connections.",
    unit: "short",
    series: {
      "{{pool}} in use": 'sum by (pool) (souk_pool_connections{state="acquired"})',
      "{{pool}} waiting for a connection": "sum by (pool) (souk_pool_waiting)",
      "{{pool}} waiting for a turn": "sum by (pool) (souk_calls_waiting)",
      "refused a second": "sum(rate(souk_calls_refused_total[5m]))",
    },
  },
  {
    title: "Backlog",
    about: "Jobs that are not done. See inspect.queue.",
    unit: "short",
    series: { "{{task}} {{state}}": "max by (task, state) (souk_jobs)" },
  },
  {
    title: "Age of the backlog",
    about: "Of the oldest job.",
    unit: "s",
    series: { "{{task}} {{state}}": "max by (task, state) (souk_job_oldest_seconds)" },
  },
  {
    title: "Jobs, 99th percentile",
    about: "How long jobs take, and how long they wait to be started.",
    unit: "s",
    series: {
      "{{task}} takes": quantile(0.99, "task", "souk_job_duration_seconds"),
      "{{task}} waits": quantile(0.99, "task", "souk_job_wait_seconds"),
    },
  },
  {
    title: "Jobs that fail",
    about: "Tried again, or given up. See inspect.jobs.",
    unit: "ops",
    series: { "{{task}} {{outcome}}": rates("task, outcome", 'souk_job_duration_seconds_count{outcome!="done"}') },
  },
  {
    title: "Calls of models",
    about: "By the model asked first, and what became of it. fallback: the provider fails.",
    unit: "ops",
    series: { "{{model}} {{operation}} {{outcome}}": rates("model, operation, outcome", "souk_model_calls_total") },
  },
  {
    title: "Reading and embedding, 95th percentile",
    about: "By model.",
    unit: "s",
    series: {
      "{{model}} {{operation}}": quantile(0.95, "model, operation", "souk_reading_duration_seconds"),
      "{{model}} embeds {{outcome}}": quantile(0.95, "model, outcome", "souk_embedding_duration_seconds"),
    },
  },
  {
    title: "Memory",
    about: "Of each process.",
    unit: "bytes",
    series: { "{{job}} {{instance}}": "process_resident_memory_bytes" },
  },
  {
    title: "Event loop",
    about: "By how much the event loop is late, 99th percentile. Above 0.1 s a process has too much to do.",
    unit: "s",
    series: { "{{job}} {{instance}}": "nodejs_eventloop_lag_p99_seconds" },
  },
  {
    title: "Texts that wait, and workers",
    about: "Texts admitted and not read, and pools of workers alive.",
    unit: "short",
    series: { waiting: "max(souk_submissions_waiting)", workers: "max(souk_workers)" },
  },
  {
    title: "Sign-in mails to strangers",
    about:
      "Mails of the last hour to browsers that the mailbox does not know, and the limit. Alert above half of it: somebody sends mail to strangers, or many new people come (incident 11 in db/RUNBOOK.md).",
    unit: "short",
    series: { mails: "max(souk_sign_in_mails)", limit: "max(souk_sign_in_mails_limit)" },
  },
  {
    title: "Check of the invariants",
    about: "Since they were last checked: every five minutes by a sample.",
    unit: "s",
    series: { "": "max(souk_invariants_checked_age_seconds)" },
  },
  {
    title: "Tokens of models",
    about:
      "Tokens a second as the provider counts and bills them, by model, kind of work and direction. The built-in makers have none.",
    unit: "ops",
    wide: true,
    series: {
      "{{model}} {{operation}} {{direction}}": rates("model, operation, direction", "souk_model_tokens_total"),
    },
  },
  {
    title: "Where requests spend their time",
    about:
      "Seconds a second, by part: waiting for a turn, the database, reading, rendering. For one request: SERVER_TIMING and a trace.",
    unit: "s",
    series: { "{{part}}": rates("part", "souk_request_part_seconds_sum") },
  },
  {
    title: "Parts of requests, 95th percentile",
    about: "Of the requests that have the part.",
    unit: "s",
    series: { "{{part}}": quantile(0.95, "part", "souk_request_part_seconds") },
  },
  {
    title: "Functions that take the most time",
    about:
      "Seconds a second in each function itself. Nothing: switch on track_functions. Statements: select * from inspect.most_expensive.",
    unit: "s",
    series: { "{{function}}": "topk(10, max by (function) (rate(souk_function_seconds_total[$__rate_interval])))" },
  },
  {
    title: "Time of a call of these functions",
    about: "Without the functions that it calls.",
    unit: "s",
    series: {
      "{{function}}":
        "max by (function) (rate(souk_function_seconds_total[$__rate_interval])) / max by (function) (rate(souk_function_calls_total[$__rate_interval]))",
    },
  },
  {
    title: "Replicas",
    about:
      "Whether reads use each replica (1 or 0), and at most how many seconds it is behind the primary. A replica that is down, or 30 seconds behind, is out of use until it is back.",
    unit: "none",
    wide: true,
    series: {
      "{{replica}} in use": "min by (replica) (souk_replica_in_use)",
      "{{replica}} behind, seconds": "max by (replica) (souk_replica_behind_seconds)",
    },
  },
];

/** Grafana divides the width into so many columns. */
const COLUMNS = 24;

/** The data source that the person chooses above the dashboard. */
const DATASOURCE = { type: "prometheus", uid: "$datasource" };

const figure = (redFrom: number) => ({
  thresholds: {
    mode: "absolute",
    steps: [
      { color: "green", value: null },
      { color: "red", value: redFrom },
    ],
  },
});

const panelOf = ({ title, about, unit, series, redFrom }: Panel) => ({
  type: redFrom === undefined ? "timeseries" : "stat",
  title,
  description: about,
  datasource: DATASOURCE,
  fieldConfig: { defaults: { unit, ...(redFrom === undefined ? {} : figure(redFrom)) }, overrides: [] },
  targets: Object.entries(series).map(([legendFormat, expr], n) => ({
    refId: "ABCDEFGH".charAt(n),
    datasource: DATASOURCE,
    expr,
    legendFormat,
  })),
  ...(redFrom === undefined ? {} : { options: { colorMode: "background", reduceOptions: { calcs: ["lastNotNull"] } } }),
});

/** Places panels from left to right, and in a new row where one does not fit. */
const placed = () => {
  let [x, y, height] = [0, 0, 0];
  return PANELS.map((panel, n) => {
    const { redFrom, wide } = panel;
    const w = redFrom !== undefined ? COLUMNS / 4 : wide ? COLUMNS : COLUMNS / 2;
    const h = redFrom !== undefined ? 5 : 8;
    if (x + w > COLUMNS) [x, y, height] = [0, y + height, 0];
    const gridPos = { x, y, w, h };
    [x, height] = [x + w, h];
    return { id: n + 1, ...panelOf(panel), gridPos };
  });
};

/** Makes the dashboard as Grafana imports it. */
export const dashboard = () => ({
  uid: "souk",
  title: "Souk",
  tags: ["souk"],
  schemaVersion: 39,
  version: 1,
  editable: true,
  refresh: "30s",
  timezone: "utc",
  time: { from: "now-6h", to: "now" },
  templating: { list: [{ name: "datasource", type: "datasource", query: "prometheus", label: "Data source" }] },
  panels: placed(),
});
