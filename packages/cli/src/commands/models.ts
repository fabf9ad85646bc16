import { knownModels, resolveModel } from "eliza-inference";
import type { CommandLine } from "../command-line.ts";
import { UsageError } from "../command-line.ts";
import type { Host } from "../host.ts";
import { bytesText } from "../quantities.ts";
import type { Reporter } from "../reporter.ts";

/** `models`: the known ones, and which are here. */
export async function models(_host: Host, line: CommandLine, reporter: Reporter): Promise<number> {
  if (line.operands.length > 0)
    throw new UsageError("models takes no name", "To fetch one: eliza-inference pull NAME");
  const rows = await Promise.all(
    knownModels.map(async (model) => {
      const { name, title, bytes, sha256, licence, chat } = model;
      const path = await resolveModel(name).then(
        (resolved) => resolved.path,
        () => null,
      );
      return { name, title, bytes, sha256, licence, chat, path };
    }),
  );
  const width = Math.max(...rows.map((row) => row.name.length));
  for (const row of rows) {
    const where = row.path ?? `not here: eliza-inference pull ${row.name}`;
    const about = `${row.title}, ${bytesText(row.bytes)}, ${row.licence.name}${row.chat ? "" : ", base model"}`;
    reporter.result("model", row, `${row.name.padEnd(width)}  ${about}\n${"".padEnd(width)}  ${where}`);
  }
  return 0;
}
