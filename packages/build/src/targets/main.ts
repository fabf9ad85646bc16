/** `npm run targets [-- NAME…]`: the table of targets, or some of its rows by any of their names. */
import { BuildError } from "../errors.ts";
import { describeTarget } from "./describe-target.ts";
import { findTarget } from "./find-target.ts";
import { TARGETS } from "./targets.ts";

try {
  const names = process.argv.slice(2);
  const rows = names.length > 0 ? names.map(findTarget) : TARGETS;
  console.log(rows.map(describeTarget).join("\n"));
} catch (error) {
  if (!(error instanceof BuildError)) throw error;
  console.error(`${error.code}: ${error.message}\n${error.hint}`);
  process.exitCode = 2;
}
