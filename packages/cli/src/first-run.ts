import { firstAnswer } from "./first-answer.ts";
import { processHost } from "./process-host.ts";

process.exitCode = await firstAnswer(process.argv.slice(2), processHost());
