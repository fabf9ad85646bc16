import { readdir } from "node:fs/promises";
import { join } from "node:path";

/** A model inside a bundle's text/, by its kind. */
export interface Artifact {
  kind: "gguf" | "litertlm" | "mlx" | "mlpackage" | "mlmodelc";
  /** the runtime that serves it */
  runtime: "llama.cpp" | "litert-lm" | "mlx-coreml";
  /** of a sharded GGUF its first part; a folder for mlx, mlpackage and mlmodelc */
  path: string;
}

const kinds = [
  { ending: ".litertlm", kind: "litertlm", runtime: "litert-lm", isFolder: false },
  { ending: ".mlpackage", kind: "mlpackage", runtime: "mlx-coreml", isFolder: true },
  { ending: ".mlmodelc", kind: "mlmodelc", runtime: "mlx-coreml", isFolder: true },
] as const;

/** What of a model's path is not a GGUF file; undefined where it may be one. */
export function artifactOf(path: string, isFolder: boolean): Artifact | undefined {
  const found = kinds.find((each) => path.toLowerCase().endsWith(each.ending) && each.isFolder === isFolder);
  return found && { kind: found.kind, runtime: found.runtime, path };
}

const part = /-(\d{5})-of-(\d{5})\.gguf$/i;

/** The models of a bundle, in the order of their names. Looks at names alone. */
export async function findArtifacts(bundle: string): Promise<Artifact[]> {
  const text = join(bundle, "text");
  const entries = (await readdir(text, { withFileTypes: true }).catch(() => []))
    .filter(({ name }) => !name.startsWith("."))
    .sort((one, other) => (one.name < other.name ? -1 : 1));
  const found: Artifact[] = [];
  if (isMlx(entries.map(({ name }) => name))) found.push({ kind: "mlx", runtime: "mlx-coreml", path: text });
  for (const entry of entries) {
    const path = join(text, entry.name);
    const isFolder = entry.isDirectory();
    if (!isFolder && /\.gguf$/i.test(entry.name)) {
      const piece = part.exec(entry.name);
      // A split model is opened by its first piece.
      if (!piece || piece[1] === "00001") found.push({ kind: "gguf", runtime: "llama.cpp", path });
      continue;
    }
    const artifact = artifactOf(path, isFolder);
    if (artifact) found.push(artifact);
    else if (isFolder && isMlx(await readdir(path))) {
      found.push({ kind: "mlx", runtime: "mlx-coreml", path });
    }
  }
  return found;
}

/** Pieces of a split GGUF that are not there, by name. */
export async function missingParts(path: string): Promise<string[]> {
  const piece = part.exec(path);
  if (!piece) return [];
  const [whole, , count] = piece;
  const there = new Set(await readdir(join(path, "..")));
  const first = path.split(/[/\\]/).at(-1)!;
  return Array.from({ length: Number(count) }, (_, at) =>
    first.replace(whole, `-${String(at + 1).padStart(5, "0")}-of-${count}.gguf`),
  ).filter((name) => !there.has(name));
}

function isMlx(names: string[]): boolean {
  return names.includes("config.json") && names.some((name) => name.endsWith(".safetensors"));
}
