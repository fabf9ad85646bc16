import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { show, summarise } from "../statistics/summary.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/**
 * From typing `npm start` to the first letter of the answer, everything cached; bare `node -e 0` beside it, and with
 * `--beside FOLDER` another checkout (an older one, say) in turn.
 */
export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      json: { type: "boolean", default: false },
      offline: { type: "boolean", default: false },
      rounds: { type: "string", default: "5" },
      beside: { type: "string" },
    },
  });
  const start = ["start", "-s", ...(values.offline ? ["--", "--offline"] : [])];
  const firstLetter: number[] = [];
  const besides: number[] = [];
  const bareNode: number[] = [];
  for (let round = -1; round < Number(values.rounds); round++) {
    const answer = await untilOutput("npm", start);
    const other = values.beside ? await untilOutput("npm", start, values.beside) : 0;
    const node = await untilOutput(process.execPath, ["-e", "console.log(0)"]);
    if (round < 0) continue; // the first round fills caches
    firstLetter.push(answer);
    besides.push(other);
    bareNode.push(node);
  }
  const beside = values.beside
    ? {
        besideMs: summarise(besides),
        ofBeside: summarise(firstLetter.map((ms, round) => ms / besides[round]!)),
      }
    : undefined;
  const result = { firstLetterMs: summarise(firstLetter), ...beside, bareNodeMs: summarise(bareNode) };
  if (values.json)
    console.log(JSON.stringify({ benchmark: "first-token", offline: values.offline, ...result }, null, 2));
  else
    console.log(
      [
        `npm start to the first letter: ${show(result.firstLetterMs, 0)} ms`,
        ...(beside
          ? [`beside: ${show(beside.besideMs, 0)} ms, ${show(beside.ofBeside, 3)} times its time`]
          : []),
        `node -e 0: ${show(result.bareNodeMs, 0)} ms`,
      ].join("; "),
    );
}

async function untilOutput(command: string, args: string[], cwd = ROOT): Promise<number> {
  const began = performance.now();
  const child = spawn(command, args, { cwd, stdio: ["ignore", "pipe", "ignore"] });
  let first = Number.NaN;
  child.stdout.on("data", () => {
    if (Number.isNaN(first)) first = performance.now() - began;
  });
  const status = await new Promise((resolve) => child.on("close", resolve));
  if (status !== 0) throw new Error(`${command} ${args.join(" ")} ended with ${status}`);
  return first;
}
