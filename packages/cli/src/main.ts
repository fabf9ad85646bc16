#!/usr/bin/env node
try {
  const { processHost } = await import("./process-host.ts");
  const { runCli } = await import("./run-cli.ts");
  process.exitCode = await runCli(process.argv.slice(2), processHost());
} catch (error) {
  // Only an installation that is not whole comes here: what runs afterwards reports its own errors.
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`error NOT_INSTALLED: ${message}\nRun npm ci in the folder of the checkout.\n`);
  process.exitCode = 1;
}
