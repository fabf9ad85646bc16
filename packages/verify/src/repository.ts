import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";

function findRoot(): string {
  const named = process.env.ELIZA_VERIFY_ROOT;
  if (named) return named;
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    if (existsSync(join(folder, "kernels", "vulkan")) && existsSync(join(folder, "contract"))) return folder;
    if (folder === dirname(folder)) throw new Error("kernels/ was not found above the verify package");
  }
}

/** The folder that holds kernels/, fixtures/ and contract/. ELIZA_VERIFY_ROOT names another. */
export const ROOT = findRoot();

/** A file's path as the contract and evidence write it: from ROOT, with forward slashes. */
export function repositoryPath(path: string): string {
  return relative(ROOT, path).split(sep).join("/");
}

export function sha256(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

const LOCAL_INCLUDE = /^[ \t]*#include[ \t]+"([^"]+)"[ \t]*$/gm;

/**
 * A kernel's source and every file it includes with quotes, each once, included files first.
 * @param path from ROOT, for example "kernels/vulkan/turbo4_score.comp"
 */
export function readSource(path: string): SourceFile[] {
  const files = new Map<string, SourceFile>();
  const visit = (file: string): void => {
    if (files.has(file)) return;
    const text = readFileSync(join(ROOT, file), "utf8");
    for (const [, name] of text.matchAll(LOCAL_INCLUDE)) {
      visit(repositoryPath(join(ROOT, dirname(file), name!)));
    }
    files.set(file, { path: file, text });
  };
  visit(path);
  return [...files.values()];
}

/**
 * The source as one text, for compilers that cannot open files: each header in the place of its first include,
 * each table (.inc) in every place.
 */
export function inlineSource(path: string): string {
  const seen = new Set<string>();
  const expand = (file: string): string => {
    if (seen.has(file) && !file.endsWith(".inc")) return "";
    seen.add(file);
    return readFileSync(join(ROOT, file), "utf8")
      .replace(/^[ \t]*#pragma once[ \t]*$/gm, "")
      .replace(LOCAL_INCLUDE, (_, name: string) => expand(repositoryPath(join(ROOT, dirname(file), name))));
  };
  return expand(path);
}

/** Hash of a kernel's source with all it includes: paths and contents, so a moved line counts too. */
export function sourceHash(path: string): string {
  return sha256(
    readSource(path)
      .map((file) => `${file.path}\0${file.text}\0`)
      .join(""),
  );
}
