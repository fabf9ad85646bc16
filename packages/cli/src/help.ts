import { type CommandName, type Flag, flags } from "./flags.ts";

const commands: Readonly<Record<CommandName, { usage: string; summary: string; examples: string[] }>> = {
  run: {
    usage: "eliza-inference run MODEL [PROMPT]",
    summary:
      "Streams an answer. MODEL is a known name, a .gguf file or a bundle. Without PROMPT it is read from\nstandard input; on a terminal a conversation begins.",
    examples: [
      'eliza-inference run smollm2-135m "Why is the sky blue?"',
      "eliza-inference run smollm2-135m --cache-type-k turbo4 --cache-type-v turbo4",
      "cat notes.txt | eliza-inference run ./model.gguf --raw --max-tokens 100",
    ],
  },
  pull: {
    usage: "eliza-inference pull NAME",
    summary: "Fetches a known model, verifies it and keeps it. A pull that was stopped goes on where it was.",
    examples: ["eliza-inference pull smollm2-135m"],
  },
  calibrate: {
    usage: "eliza-inference calibrate MODEL",
    summary:
      "Learns a map of a model's KV cache. Coded caches then lose less; run uses it by itself (--kv-map auto).\nTakes some seconds on a CPU, once a model.",
    examples: [
      "eliza-inference calibrate smollm2-135m",
      "eliza-inference calibrate ./model.gguf --text notes.txt --tokens 8192",
    ],
  },
  bundle: {
    usage: "eliza-inference bundle create|check FOLDER",
    summary:
      "Writes a bundle's bundle.json, or holds the bundle against it: files, sizes, hashes, kernels. A bundle is a\nfolder with a model in text/; docs/runtimes.md has the format.",
    examples: [
      "eliza-inference bundle create ./my-bundle --licence Apache-2.0 --minimum-kernels turbo4",
      "eliza-inference bundle check ./my-bundle",
    ],
  },
  runtimes: {
    usage: "eliza-inference runtimes [add NAME]",
    summary:
      "Lists the runtimes beside llama.cpp that can be fetched, or fetches one: its wheel from this machine's Python\npackage index, verified and unpacked to the user's data folder. docs/runtimes.md says what they can do.",
    examples: ["eliza-inference runtimes", "eliza-inference runtimes add litert-lm"],
  },
  models: {
    usage: "eliza-inference models",
    summary: "Lists the known models and which of them are here.",
    examples: ["eliza-inference models --json"],
  },
  doctor: {
    usage: "eliza-inference doctor",
    summary: "Looks at this machine and says what is missing and how to get it.",
    examples: ["eliza-inference doctor"],
  },
};

/** The help of one command, or of them all. */
export function helpText(command: CommandName | undefined): string {
  const common = flags.filter((flag) => !flag.commands);
  if (!command) {
    const width = Math.max(...Object.values(commands).map((each) => each.usage.length));
    return [
      "Language models in your own process, with a compressed KV cache.",
      "",
      ...Object.values(commands).map(
        (each) => `  ${each.usage.padEnd(width)}  ${each.summary.split(/(?<=\.)\s/)[0]}`,
      ),
      `  ${"eliza-inference verify".padEnd(width)}  Holds the KV-cache kernels against the reference on every device here.`,
      "",
      ...table(common),
      "",
      "Flags of a command: eliza-inference COMMAND --help",
      "",
    ].join("\n");
  }
  const { usage, summary, examples } = commands[command];
  const own = flags.filter((flag) => flag.commands?.includes(command));
  const lines = [`Usage: ${usage} [flags]`, "", summary, ""];
  lines.push(...table([...own, ...common]), "");
  lines.push("Examples:", ...examples.map((example) => `  ${example}`), "");
  return lines.join("\n");
}

function table(rows: readonly Flag[]): string[] {
  const left = rows.map((flag) => {
    const short = flag.short ? `-${flag.short}, ` : "    ";
    return `  ${short}--${flag.name}${flag.value ? ` ${flag.value}` : ""}`;
  });
  const width = Math.max(...left.map((text) => text.length));
  return rows.map((flag, index) => `${(left[index] ?? "").padEnd(width)}  ${flag.help}`);
}
