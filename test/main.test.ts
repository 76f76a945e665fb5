import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import test from "ava";

const MAIN = fileURLToPath(new URL("../src/main.ts", import.meta.url));

test("a command reads .env of its folder, and a variable of the environment wins", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "souk-env-"));
  t.teardown(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, ".env"), "DATABASE_URL=mysql://localhost\nLOG_LEVEL=loud\nBASE_URL=\n");
  const printed = await new Promise<string>((resolve) => {
    const env = { PATH: process.env["PATH"], LOG_LEVEL: "info" };
    execFile(process.execPath, [MAIN, "migrate"], { cwd: folder, env }, (_error, _stdout, stderr) => resolve(stderr));
  });
  t.regex(printed, /^The environment cannot be used:\n {2}DATABASE_URL: must start with postgres:\/\/\nSee \.env/);
});
