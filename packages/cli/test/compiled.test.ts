import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../../", import.meta.url));

test("compiled, the packages run on plain Node without a loader", () => {
  execFileSync("npm", ["run", "-s", "build:ts"], { cwd: root, shell: process.platform === "win32" });
  const version = execFileSync(process.execPath, [
    join(root, "packages/cli/dist/main.js"),
    "--version",
  ]).toString();
  assert.match(version, /^\d+\.\d+\.\d+/);
  const names = "import('eliza-inference').then((m) => console.log(typeof m.Inference.open))";
  assert.equal(execFileSync(process.execPath, ["-e", names], { cwd: root }).toString().trim(), "function");
});

test("verify is a command, with its own flags and exit statuses", () => {
  const run = (...args: string[]) =>
    spawnSync(
      process.execPath,
      [join(root, "scripts/ts.mjs"), join(root, "packages/cli/src/main.ts"), ...args],
      {
        encoding: "utf8",
      },
    );
  const help = run("verify", "--help");
  assert.match(help.stdout + help.stderr, /--device NAME/);
  assert.equal(help.status, 0);
  assert.equal(run("verify", "--device", "toaster").status, 2);
  assert.match(run("--help").stdout, /eliza-inference verify/);
});
