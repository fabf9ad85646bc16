import { checkBundle, createBundle } from "eliza-inference";
import { type CommandLine, UsageError } from "../command-line.ts";
import { bytesText } from "../quantities.ts";
import type { Reporter } from "../reporter.ts";

/** `bundle create|check FOLDER`; returns the exit status. */
export async function bundle(line: CommandLine, reporter: Reporter): Promise<number> {
  const [what, folder, ...more] = line.operands;
  if ((what !== "create" && what !== "check") || folder === undefined || more.length > 0) {
    throw new UsageError(
      "bundle needs create or check, and one folder",
      "eliza-inference bundle check ./my-bundle",
    );
  }
  if (what === "create") {
    const manifest = await createBundle(folder, {
      ...given("name", line.text("name")),
      ...given("licence", line.text("licence")),
      ...given("drafter", line.text("drafter")),
      ...given("minimumKernels", line.text("minimum-kernels")?.split(",")),
    });
    const bytes = manifest.files.reduce((sum, file) => sum + file.bytes, 0);
    const text = `${manifest.name}: ${manifest.files.length} files, ${bytesText(bytes)}`;
    reporter.result("bundle", manifest, text);
    return 0;
  }
  const { manifest, artifacts, problems } = await checkBundle(folder);
  const models = artifacts.map(({ kind, runtime, path }) => `${path}: ${kind}, for ${runtime}`);
  if (!manifest) reporter.note("It has no bundle.json: only its models were looked for.");
  reporter.result("bundle", { manifest, artifacts, problems }, [...models, ...problems].join("\n"));
  return problems.length === 0 ? 0 : 1;
}

function given<K extends string, V>(key: K, value: V | undefined): { [P in K]?: V } {
  return value === undefined ? {} : ({ [key]: value } as { [P in K]?: V });
}
