import { processHost, runCli } from "../src/index.ts";
import { fakeEngine } from "./fake-engine.ts";

process.exitCode = await runCli(process.argv.slice(2), processHost(fakeEngine));
