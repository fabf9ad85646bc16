#!/usr/bin/env node
import { processHost } from "./process-host.ts";
import { runCli } from "./run-cli.ts";

process.exitCode = await runCli(process.argv.slice(2), processHost());
