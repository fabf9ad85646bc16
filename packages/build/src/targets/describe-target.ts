import type { Target } from "./target.ts";

/** A target in a few lines for people: what makes it or why nothing does, what runs it, what was seen, what is open. */
export function describeTarget(target: Target): string {
  const { id, toolchain, refused, runner, shown, needs } = target;
  const facts = {
    package: target.package,
    ...(toolchain === "host" ? { built: "on a machine of its kind: npm run build:native" } : {}),
    ...(refused === undefined ? {} : { "not built": refused }),
    ...(runner === undefined ? {} : { "runs here": runner }),
    shown: shown ?? "nothing",
    "still to show": needs,
  };
  return [id, ...Object.entries(facts).map(([name, text]) => `  ${name.padEnd(13)}  ${text}`)].join("\n");
}
