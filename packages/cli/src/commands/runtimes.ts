import { type AddedRuntime, addRuntime, findRuntime, knownRuntimes } from "eliza-inference";
import { type CommandLine, UsageError } from "../command-line.ts";
import type { Host } from "../host.ts";
import { onInterrupt } from "../interrupts.ts";
import { createProgress } from "../progress.ts";
import type { Reporter } from "../reporter.ts";

/** `runtimes`: those that can be fetched; `runtimes add NAME` fetches one. Returns the exit status. */
export async function runtimes(host: Host, line: CommandLine, reporter: Reporter): Promise<number> {
  const [what, name, ...more] = line.operands;
  if (what === undefined) return list(reporter);
  if (what !== "add" || name === undefined || more.length > 0) {
    throw new UsageError(
      "runtimes takes nothing, or add and the name of one",
      `eliza-inference runtimes add ${knownRuntimes[0]!.name}`,
    );
  }
  const added = await addWithProgress(host, name, reporter, line.text("index"));
  const { version, licence, library, alreadyThere } = added;
  reporter.note(
    `${added.name} ${version} is ${alreadyThere ? "here" : "added"}. Licence: ${licence.name}, ${licence.url}`,
  );
  reporter.result("runtime", added, library);
  return 0;
}

async function list(reporter: Reporter): Promise<number> {
  for (const { name, title, version, licence } of knownRuntimes) {
    const found = await findRuntime(name);
    const where = found?.library ?? `not here: eliza-inference runtimes add ${name}`;
    const row = { name, title, version, licence, library: found?.library ?? null };
    reporter.result("runtime", row, `${name}  ${title} ${version}, ${licence.name}\n  ${where}`);
  }
  return 0;
}

const phases = { checking: "checking", downloading: "fetching", unpacking: "unpacking" } as const;

async function addWithProgress(
  host: Host,
  name: string,
  reporter: Reporter,
  wheelIndex: string | undefined,
): Promise<AddedRuntime> {
  const controller = new AbortController();
  const release = onInterrupt(() => controller.abort());
  const progress = createProgress(host.stderr, reporter.json);
  try {
    return await addRuntime(name, {
      wheelIndex,
      signal: controller.signal,
      onProgress: (at) =>
        progress.update(`${phases[at.phase]} ${name}`, at.receivedBytes, at.totalBytes, "bytes"),
      onNotice: (text) => progress.note(text),
    });
  } finally {
    progress.stop();
    release();
  }
}
