import { readFile } from "node:fs/promises";
import { type CommandLine, readCommandLine, UsageError } from "./command-line.ts";
import { type CommandName, inFlags } from "./flags.ts";
import { helpText } from "./help.ts";
import type { Host } from "./host.ts";
import { createReporter, failureOf, type Reporter } from "./reporter.ts";

type Command = (host: Host, line: CommandLine, reporter: Reporter) => Promise<number>;

// Loaded when asked for, so that --help and pull do not wait for what run needs.
const commands: Readonly<Record<CommandName, () => Promise<Command>>> = {
  run: async () => (await import("./commands/run.ts")).run,
  pull: async () => (await import("./commands/pull.ts")).pull,
  models: async () => (await import("./commands/models.ts")).models,
  calibrate: async () => (await import("./commands/calibrate.ts")).calibrateModel,
  bundle: async () => {
    const { bundle } = await import("./commands/bundle.ts");
    return (_, line, reporter) => bundle(line, reporter);
  },
  runtimes: async () => (await import("./commands/runtimes.ts")).runtimes,
  doctor: async () => (await import("./commands/doctor.ts")).doctor,
};

/**
 * Carries out a command line and returns its exit status: 0, 1 for a failure, 2 for a wrong command line, 130
 * after Ctrl-C. Never throws.
 */
export async function runCli(args: readonly string[], host: Host): Promise<number> {
  let lost: Error | undefined;
  const onError = (error: Error): void => {
    lost ??= error;
  };
  host.stdout.on("error", onError);
  try {
    const status = await carryOut(args, host);
    await new Promise((resolve) => {
      if (host.stdout.destroyed) setImmediate(resolve);
      else host.stdout.write("", () => setImmediate(resolve));
    });
    // A reader that went away, as head does, has what it wanted.
    if (!lost || Reflect.get(lost, "code") === "EPIPE") return status;
    createReporter(host, false).failure({
      code: "OUTPUT_LOST",
      message: `standard output cannot be written: ${lost.message}`,
      hint: "What was said is not all there: free some space, or write elsewhere.",
    });
    return 1;
  } finally {
    host.stdout.off("error", onError);
  }
}

async function carryOut(args: readonly string[], host: Host): Promise<number> {
  let reporter = createReporter(host, args.includes("--json"));
  try {
    // It has flags of its own, and the same ones on a machine where only the packed verifier is.
    if (args[0] === "verify") return await (await import("@eliza-inference/verify")).runVerify(args.slice(1));
    const line = readCommandLine(args);
    reporter = createReporter(host, line.json);
    if (line.help) {
      host.stdout.write(helpText(line.command));
      return 0;
    }
    if (line.version) {
      const version = await readVersion();
      reporter.result("version", { version }, version);
      return 0;
    }
    if (!line.command) {
      host.stderr.write(helpText(undefined));
      return 2;
    }
    const command = await commands[line.command]();
    return await command(host, line, reporter);
  } catch (error) {
    const failure = inFlags(failureOf(error));
    reporter.failure(failure);
    if (error instanceof UsageError) return 2;
    return failure.code === "CANCELLED" ? 130 : 1;
  }
}

async function readVersion(): Promise<string> {
  const text = await readFile(new URL("../package.json", import.meta.url), "utf8");
  const { version } = JSON.parse(text) as { version: string };
  return version;
}
