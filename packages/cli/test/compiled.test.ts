import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
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
