import { runVerify } from "./run-verify.ts";

process.exitCode = await runVerify(process.argv.slice(2));
