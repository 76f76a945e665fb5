/** How `npm test` (test/run.ts) runs the test files. */

/**
 * Folders and files in which tests wait longest come first, so that no long file is left to run alone at the end. Folders
 * that are not named come last: their tests compute, and are over in seconds.
 */
const FIRST = ["test/faults/embedded.", "test/db/vocabulary.", "test/db/restore.", "test/db/migrator.", "test/db/load_data.", "test/faults/", "test/admin/", "test/sign_in/", "test/pages/", "test/http/", "test/eval/", "test/db/"];

const rank = (file) => {
  const place = FIRST.findIndex((first) => file.replaceAll("\\", "/").includes(`/${first}`));
  return place === -1 ? FIRST.length : place;
};

export default {
  files: ["test/**/*.test.ts"],
  extensions: ["ts"],
  require: ["./test/support/times.ts"],
  workerThreads: false,
  // Two and a half times the processors of a small machine: files that come first wait for clocks, locks and other
  // processes, and use a third of a processor each.
  concurrency: 5,
  sortTestFiles: (one, other) => rank(one) - rank(other) || (one < other ? -1 : 1),
  timeout: "5m",
  environmentVariables: { NODE_ENV: "test" },
};
