import { readdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ContentKey } from "./content-key.ts";
import type { Tool } from "./toolchain.ts";

/** build.json in the folder of a built library: what it was made from, and by what. */
export interface BuiltRecord extends ContentKey {
  variant: string;
  /** name and version of the pinned source */
  source: string;
  /** edits that were applied to it */
  edits: string[];
  tools: Tool[];
}

const FILE = "build.json";

/** The record of a built library, or undefined where none is whole. */
export async function readRecord(folder: string): Promise<BuiltRecord | undefined> {
  try {
    return JSON.parse(await readFile(join(folder, FILE), "utf8")) as BuiltRecord;
  } catch {
    return undefined;
  }
}

export async function writeRecord(folder: string, record: BuiltRecord): Promise<void> {
  const partial = join(folder, `.${process.pid}-${FILE}`);
  await writeFile(partial, `${JSON.stringify(record, null, 2)}\n`);
  await rename(partial, join(folder, FILE));
}

/** Why none of the libraries in `built` is the wanted one, for a person who thought it was. */
export async function explainAbsence(built: string, variant: string, wanted: ContentKey): Promise<string> {
  const names = (await readdir(built).catch((): string[] => [])).filter((name) =>
    name.startsWith(`${variant}-`),
  );
  const records = await Promise.all(names.map((name) => readRecord(join(built, name))));
  const ofSources = records.find((record) => record?.sources === wanted.sources);
  if (ofSources) {
    return `it was built for another processor (${ofSources.processorName}) than this one (${wanted.processorName})`;
  }
  const others = records.filter((record) => record !== undefined).length;
  return others > 0 ? `what lies in ${built} was built from other sources` : `nothing is built in ${built}`;
}
