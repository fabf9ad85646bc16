/**
 * `npm test [-- PATH...]`: formatter and linter, types, then every test file of the workspace.
 * The last line is `N passed, N failed, N skipped`; checks count as tests.
 */
import { spawn } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../", import.meta.url));
const only = process.argv.slice(2);
const totals = { passed: 0, failed: 0, skipped: 0 };

async function command(name: string, args: string[]): Promise<number | string> {
  const child = spawn(name, args, { cwd: root, stdio: "inherit" });
  return new Promise((done) => {
    child.on("error", () => done("not found"));
    child.on("close", (code, signal) => done(code ?? signal ?? "ended"));
  });
}

async function check(what: string, name: string, args: string[], optional = false): Promise<void> {
  const status = await command(name, args);
  if (status === 0) totals.passed += 1;
  else if (status === "not found" && optional) totals.skipped += 1;
  else totals.failed += 1;
  const verdict =
    status === 0 ? "ok" : status === "not found" && optional ? `skipped: ${name} is not installed` : "failed";
  console.log(`${what}: ${verdict}`);
}

async function filesBelow(folder: string, ends: RegExp): Promise<string[]> {
  const found: string[] = [];
  for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
    if (entry.name === "node_modules" || entry.name === "dist" || entry.name.startsWith(".")) continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) found.push(...(await filesBelow(path, ends)));
    else if (ends.test(entry.name)) found.push(path);
  }
  return found.sort();
}

async function testFiles(): Promise<string[]> {
  const places =
    only.length > 0
      ? only.map((path) => resolve(path))
      : ["packages", "training", "bench"].map((p) => join(root, p));
  const lists = await Promise.all(
    places.map(async (place) => (/\.ts$/.test(place) ? [place] : filesBelow(place, /\.test\.ts$/))),
  );
  return lists.flat();
}

if (only.length === 0) {
  const bin = (name: string) => join(root, "node_modules", ".bin", name);
  await check("format and lint", bin("biome"), ["ci", "--colors=off", "."]);
  await check("types", bin("tsc"), ["-p", "tsconfig.json"]);
  const sources = [
    ...(await filesBelow(join(root, "native"), /\.(c|cpp|h)$/)),
    ...(await filesBelow(join(root, "kernels", "cpu"), /\.(c|h)$/)),
  ];
  await check("C and C++ format", "clang-format", ["--dry-run", "--Werror", ...sources], true);
}

const files = await testFiles();
const scratch = await mkdtemp(join(tmpdir(), "eliza-tests-"));
const counts = join(scratch, "counts.json");
await command(process.execPath, [
  ...["--conditions=source", "--import", "tsx", "--test", "--test-concurrency=1"],
  ...["--test-reporter=spec", "--test-reporter-destination=stdout"],
  ...[
    `--test-reporter=${new URL("count-reporter.mjs", import.meta.url)}`,
    `--test-reporter-destination=${counts}`,
  ],
  ...files,
]);
try {
  const { pass, fail, skipped, todo, cancelled } = JSON.parse(await readFile(counts, "utf8"));
  totals.passed += pass;
  totals.failed += fail + cancelled;
  totals.skipped += skipped + todo;
} catch {
  totals.failed += 1; // the runner itself died
}
await rm(scratch, { recursive: true, force: true });
console.log(`${totals.passed} passed, ${totals.failed} failed, ${totals.skipped} skipped`);
process.exitCode = totals.failed > 0 ? 1 : 0;
