/** How `npm test` (test/run.ts) runs the test files. */

/**
 * Folders in which tests wait longest come first, so that no long file is left to run alone at the end. Folders that are
 * not named come last: their tests compute, and are over in seconds.
 */
const FIRST = ["test/faults/", "test/admin/", "test/sign_in/", "test/pages/", "test/http/", "test/eval/", "test/db/"];

const rank = (file) => {
  const place = FIRST.findIndex((folder) => file.replaceAll("\\", "/").includes(`/${folder}`));
  return place === -1 ? FIRST.length : place;
};

export default {
  files: ["test/**/*.test.ts"],
  extensions: ["ts"],
  require: ["./test/support/times.ts"],
  workerThreads: false,
  // Twice the processors of a small machine: tests wait for clocks, locks and other processes more than they compute.
  concurrency: 4,
  sortTestFiles: (one, other) => rank(one) - rank(other) || (one < other ? -1 : 1),
  timeout: "5m",
  environmentVariables: { NODE_ENV: "test" },
};
