/**
 * Writes packages/inference/data/calibration.txt, the text that `calibrate` looks at by default: prose, dialogue, JSON
 * and several languages written for it, generated stories and conversations, this project's own code. The file is
 * committed; writing it anew after the sources have changed makes another text with another hash.
 */
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { dialogue } from "../../../training/generator/dialogues.ts";
import { jsonArray } from "../../../training/generator/json-documents.ts";
import { type Maker, shardRandom, story } from "../../../training/generator/mixture.ts";
import { notes, plantedFacts } from "../../../training/generator/recall-documents.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const seeds = fileURLToPath(new URL("calibration-seeds/", import.meta.url));
const codeFiles = [
  "kernels/cpu/src/formats.c",
  "native/src/streaming/output-queue.cpp",
  "native/src/runtimes/llama/decode.cpp",
  "packages/codecs/src/trellis.ts",
  "packages/inference/src/gguf/gguf-cursor.ts",
  "packages/inference/src/token-stream.ts",
  "packages/build/src/source.ts",
  "packages/cli/src/command-line.ts",
  "training/train.py",
  "kernels/vulkan/score.glsl",
  "docs/formats.md",
  "docs/cli.md",
];
/** Characters of a piece; a window of 2,048 tokens then sees several kinds of text. */
const pieceSize = 2600;

const random = shardRandom("train", 1, 0);
const generated = (make: Maker, count: number): string[] =>
  Array.from({ length: count }, () => make(random, pieceSize - 600).text.replace(/<\|[a-z_]+\|>/g, "\n"));
const seed = (name: string) => readFile(`${seeds}${name}`, "utf8");
const paragraphs = (text: string) => text.trim().split(/\n\n+/);

const english = paragraphs(await seed("english.md"));
const languages = paragraphs(await seed("languages.md"));
const records = (await seed("data.jsonl")).trim().split("\n");
const code: string[] = [];
for (const file of codeFiles) code.push(...pieces(await readFile(`${root}${file}`, "utf8")));

const kinds: string[][] = [
  grouped(english, 2),
  code,
  generated(story, 24),
  grouped(languages, 2),
  generated(dialogue, 20),
  [
    ...grouped(records, 3),
    ...grouped(
      records.map((record) => JSON.stringify(JSON.parse(record), null, 2)),
      2,
    ),
  ],
  generated(plantedFacts, 6),
  generated(jsonArray, 5),
  generated(notes, 5),
];
const text = `${interleaved(kinds).join("\n\n")}\n`;
await writeFile(`${root}packages/inference/data/calibration.txt`, text);
console.log(`${Buffer.byteLength(text)} bytes`);

/** Each kind spread evenly over the whole. */
function interleaved(kinds: readonly string[][]): string[] {
  return kinds
    .flatMap((pieces) => pieces.map((piece, index) => ({ piece, at: (index + 0.5) / pieces.length })))
    .sort((a, b) => a.at - b.at)
    .map(({ piece }) => piece);
}

function grouped(parts: readonly string[], size: number): string[] {
  const groups: string[] = [];
  for (let at = 0; at < parts.length; at += size) groups.push(parts.slice(at, at + size).join("\n\n"));
  return groups;
}

/** A text in pieces of about the piece size, cut at line ends. */
function pieces(text: string): string[] {
  const found: string[] = [];
  let piece = "";
  for (const line of text.split("\n")) {
    piece += `${line}\n`;
    if (piece.length >= pieceSize) {
      found.push(piece);
      piece = "";
    }
  }
  return piece.trim() === "" ? found : [...found, piece];
}
