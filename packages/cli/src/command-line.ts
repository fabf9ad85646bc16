import { parseArgs } from "node:util";
import { closestName } from "eliza-inference";
import { type CommandName, type Flag, flags, flagsOf } from "./flags.ts";

export const commandNames: readonly CommandName[] = [
  "run",
  "pull",
  "calibrate",
  "bundle",
  "runtimes",
  "models",
  "doctor",
];

/** A command line that says something wrong: exit status 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
  readonly code = "USAGE";
  readonly hint: string;

  constructor(message: string, hint: string) {
    super(message);
    this.hint = hint;
  }
}

export interface CommandLine {
  command: CommandName | undefined;
  /** What follows the command. */
  operands: readonly string[];
  json: boolean;
  help: boolean;
  version: boolean;
  text(flag: string): string | undefined;
  number(flag: string): number | undefined;
  isSet(flag: string): boolean;
}

/** Reads the arguments after the program's name. Flags may stand anywhere; after `--` nothing is a flag. @throws UsageError */
export function readCommandLine(args: readonly string[]): CommandLine {
  const { tokens } = parseArgs({
    args: [...args],
    options: Object.fromEntries(
      flags.map((flag) => [
        flag.name,
        { type: flag.value ? "string" : "boolean", ...(flag.short ? { short: flag.short } : {}) } as const,
      ]),
    ),
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const positionals = tokens.flatMap((token) => (token.kind === "positional" ? [token.value] : []));
  const [first, ...operands] = positionals;
  const command = commandNames.find((name) => name === first);
  const positionalsBefore = (index: number): number =>
    tokens.filter((token) => token.kind === "positional" && token.index < index).length;
  const values = new Map<string, string>();
  for (const token of tokens) {
    if (token.kind !== "option") continue;
    const flag = flags.find((each) => each.name === token.name);
    if (!flag) throw unknownFlag(token.rawName, command, positionalsBefore(token.index) > 1);
    if (command && !flagsOf(command).includes(flag)) {
      throw new UsageError(
        `${token.rawName} is not a flag of ${command}`,
        `It belongs to: ${flag.commands?.join(", ")}.`,
      );
    }
    values.set(flag.name, checked(flag, token.rawName, token.value, token.inlineValue ?? false));
  }
  const line: CommandLine = {
    command,
    operands,
    json: values.has("json"),
    help: values.has("help"),
    version: values.has("version"),
    text: (flag) => values.get(flag),
    number: (flag) => (values.has(flag) ? Number(values.get(flag)) : undefined),
    isSet: (flag) => values.has(flag),
  };
  if (first !== undefined && command === undefined && !line.help) {
    const meant = closestName(first, commandNames);
    throw new UsageError(
      `there is no command "${first}"`,
      meant ? `Did you mean ${meant}?` : `Commands: ${commandNames.join(", ")}.`,
    );
  }
  return line;
}

function unknownFlag(given: string, command: CommandName | undefined, hasModel: boolean): UsageError {
  const known = command ? flagsOf(command) : flags;
  const meant = closestName(
    given,
    known.map((flag) => `--${flag.name}`),
  );
  const help = `See eliza-inference ${command ? `${command} ` : ""}--help.`;
  // Behind a model it may be the beginning of a prompt.
  const asPrompt =
    command === "run" && hasModel
      ? ` A prompt that begins with "-" goes behind "--": run MODEL -- "${given} …".`
      : "";
  return new UsageError(`there is no flag ${given}`, `${meant ? `Did you mean ${meant}?` : help}${asPrompt}`);
}

function checked(flag: Flag, given: string, value: string | undefined, inline: boolean): string {
  if (!flag.value) {
    if (inline) throw new UsageError(`${given} takes no value`, `Write ${given} alone.`);
    return "";
  }
  if (value === undefined || (!inline && value.startsWith("--"))) {
    throw new UsageError(`${given} needs a value`, `Write ${given} ${flag.value}: ${flag.help}.`);
  }
  if (flag.number) {
    const { integer, least, most } = flag.number;
    const number = value.trim() === "" ? Number.NaN : Number(value);
    if (!(number >= least && number <= most) || (integer && !Number.isInteger(number))) {
      throw new UsageError(
        `${given} is "${value}", not ${integer ? "a whole number" : "a number"} from ${least} to ${most}`,
        `${flag.name}: ${flag.help}.`,
      );
    }
  }
  if (flag.choices && !flag.choices.includes(value)) {
    throw new UsageError(`${given} is "${value}"`, `It can be: ${flag.choices.join(", ")}.`);
  }
  return value;
}
