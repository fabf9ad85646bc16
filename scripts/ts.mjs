// Runs a TypeScript file of this workspace: node scripts/ts.mjs FILE [ARGS...].
// Workspace packages resolve to their sources through the "source" condition, so nothing has to be built first.
import { spawn } from "node:child_process";
import { constants } from "node:os";

const child = spawn(
  process.execPath,
  ["--conditions=source", "--import", import.meta.resolve("tsx"), ...process.argv.slice(2)],
  { stdio: "inherit" },
);
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => child.kill(signal));
child.on("exit", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
