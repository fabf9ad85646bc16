import assert from "node:assert/strict";
import { test } from "node:test";
import { readCommandLine, UsageError } from "../src/command-line.ts";
import { jsonLines, runProgram } from "./run-program.ts";

function refused(args: string): UsageError {
  try {
    readCommandLine(args.split(" "));
  } catch (error) {
    assert.ok(error instanceof UsageError);
    return error;
  }
  return assert.fail(`"${args}" was taken`);
}

test("flags may stand anywhere, with = or a space, and after -- nothing is a flag", () => {
  const line = readCommandLine(["--json", "run", "--seed=7", "m", "-n", "5", "--", "--not-a-flag"]);
  assert.equal(line.command, "run");
  assert.deepEqual(line.operands, ["m", "--not-a-flag"]);
  assert.equal(line.json, true);
  assert.equal(line.number("seed"), 7);
  assert.equal(line.number("max-tokens"), 5);
  assert.equal(line.number("threads"), undefined);
});

test("wrong flags and values are told with what is right", () => {
  assert.match(refused("run m --temprature 1").hint, /Did you mean --temperature\?/);
  assert.match(refused("run m --wat").hint, /run --help/);
  assert.match(refused("run m -5 degrees").hint, /begins with "-" goes behind "--": run MODEL -- "-5 …"/);
  assert.doesNotMatch(refused("run --wat m").hint, /prompt/);
  assert.match(refused("runn m").hint, /Did you mean run\?/);
  assert.match(refused("pull m --threads 2").message, /not a flag of pull/);
  assert.match(refused("run m --threads").message, /needs a value/);
  assert.match(refused("run m --system --json").message, /needs a value/);
  assert.match(refused("run m --json=1").message, /takes no value/);
  assert.match(refused("run m --threads 1.5").message, /not a whole number from 1 to/);
  assert.match(refused("run m --top-p 1.5").message, /not a number from 0 to 1/);
  assert.match(refused("run m --seed -1").message, /from 0 to 4294967295/);
  for (const number of ["", "x", "1e", "NaN", "Infinity"]) refused(`run m --temperature=${number}`);
  assert.match(refused("pull m --source web").hint, /hub, wheels/);
});

test("exit statuses: 0 for help and version, 2 for a wrong command line", async () => {
  const help = await runProgram(["--help"]);
  assert.equal(help.status, 0);
  for (const command of ["run", "pull", "models", "doctor"])
    assert.match(help.out, new RegExp(` ${command}\\b`));
  const own = await runProgram(["pull", "-h"]);
  assert.match(own.out, /--index URL/);
  assert.doesNotMatch(own.out, /--temperature/);
  const version = await runProgram(["--version", "--json"]);
  assert.match(String(jsonLines(version.out)[0]?.version), /^\d+\.\d+\.\d+$/);
  const none = await runProgram([]);
  assert.equal(none.status, 2);
  assert.equal(none.out, "");
  const wrong = await runProgram(["run", "--wat", "--json"]);
  assert.equal(wrong.status, 2);
  assert.equal(jsonLines(wrong.out)[0]?.code, "USAGE");
});
