import { type Check, runChecks } from "../checks.ts";
import type { CommandLine } from "../command-line.ts";
import { UsageError } from "../command-line.ts";
import type { Host } from "../host.ts";
import { type Reporter, style } from "../reporter.ts";

/** `doctor`: 0 when everything needed is here, else 1. */
export async function doctor(host: Host, line: CommandLine, reporter: Reporter): Promise<number> {
  if (line.operands.length > 0)
    throw new UsageError("doctor takes no operand", "Run: eliza-inference doctor");
  const checks = await runChecks();
  const width = Math.max(...checks.map((check) => check.name.length));
  for (const check of checks) reporter.result("check", check, row(check, width, host.stdout.isTTY));
  const missing = checks.filter((check) => check.state === "missing");
  const next = missing[0]?.next ?? checks.find((check) => check.next)?.next;
  const advice = next ?? 'eliza-inference run smollm2-135m "Why is the sky blue?"';
  reporter.result("next", { ok: missing.length === 0, next: advice }, `\nNext: ${advice}`);
  return missing.length === 0 ? 0 : 1;
}

function row(check: Check, width: number, isTerminal: boolean | undefined): string {
  const marks = { ok: ["32", "ok     "], missing: ["31", "missing"], note: ["33", "note   "] } as const;
  const [color, word] = marks[check.state];
  const next = check.next && check.state !== "ok" ? `\n${"".padEnd(width + 10)}${check.next}` : "";
  return `${style(isTerminal, color, word)} ${check.name.padEnd(width)}  ${check.found}${next}`;
}
