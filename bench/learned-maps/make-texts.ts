/**
 * `node scripts/ts.mjs bench/learned-maps/make-texts.ts HANDBOOK PYTHON OUT`: the texts that maps are scored on, none
 * of which the calibration text shares a sentence with.
 *
 * HANDBOOK is the html folder of Debian's package debian-handbook, PYTHON a folder of Python's standard library.
 * OUT gets english.txt, german.txt, code.txt and chat.json, a conversation about the handbook's headings;
 * gemma.markers.txt, the same with Gemma's turn markers, for a base model that has no chat template; and for the
 * repository's own model pico-calibration.txt and pico.txt, documents like those it was trained on.
 */
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ChatMessage } from "eliza-inference";
import { nextDocument, type Split, shardRandom } from "../../training/generator/mixture.ts";

const ENTITIES: Record<string, string> = { lt: "<", gt: ">", quot: '"', apos: "'", nbsp: " ", amp: "&" };
const REPLY_CHARACTERS = 1200;

interface Page {
  title: string;
  text: string;
}

async function readPages(folder: string): Promise<Page[]> {
  const names = (await readdir(folder)).filter((name) => /^sect\..*\.html$/.test(name)).sort();
  const sources = await Promise.all(names.map((name) => readFile(join(folder, name), "utf8")));
  return sources.map((source) => ({
    title: plainText(/<title[^>]*>([\s\S]*?)<\/title>/.exec(source)?.[1] ?? "").replace(/^[\d.\s]+/, ""),
    text: withoutFrame(plainText(/<body[^>]*>([\s\S]*)<\/body>/.exec(source)?.[1] ?? "")),
  }));
}

/** The page from its numbered heading on, without the links that every page ends with. */
function withoutFrame(text: string): string {
  const body = text.slice(Math.max(0, text.search(/^\d+\.\d/m)));
  return body.replace(/\n(Prev|Zurück)\n[\s\S]{0,300}$/, "");
}

function plainText(html: string): string {
  return html
    .replace(/<(script|style)[\s\S]*?<\/\1>/g, "")
    .replace(/<ul class="docnav">[\s\S]*?<\/ul>/g, "")
    .replace(/<\/(p|div|li|h\d|pre|tr|dt|dd)>/g, "\n")
    .replace(/<[^>]+>/g, "")
    .replace(/&#(x?)([0-9a-f]+);/gi, (_, hex: string, digits: string) =>
      String.fromCodePoint(Number.parseInt(digits, hex ? 16 : 10)),
    )
    .replace(/&(\w+);/g, (whole, name: string) => ENTITIES[name] ?? whole)
    .replace(/[ \t\u00a0]+/g, " ")
    .replace(/ ?\n[ \n]*/g, "\n")
    .trim();
}

async function readPython(folder: string): Promise<string> {
  const names = (await readdir(folder)).filter((name) => /^[a-d].*\.py$/.test(name)).sort();
  return (await Promise.all(names.map((name) => readFile(join(folder, name), "utf8")))).join("\n");
}

function conversation(pages: readonly Page[]): ChatMessage[] {
  return pages.flatMap(({ title, text }): ChatMessage[] => [
    { role: "user", content: `What should I know about this: ${title}?` },
    { role: "assistant", content: text.slice(0, REPLY_CHARACTERS) },
  ]);
}

/** Documents of the generator, from a stream that no training shard has. */
function generated(split: Split, characters: number): string {
  const random = shardRandom(split, 2048, 4_000_001);
  let text = "";
  while (text.length < characters)
    text += `${nextDocument(random, 2048).text.replace(/<\|[a-z_]+\|>/g, "\n")}\n`;
  return text;
}

const [handbook, python, out] = process.argv.slice(2);
if (!handbook || !python || !out)
  throw new Error("give the handbook's html folder, Python's folder, and an output folder");
const english = await readPages(join(handbook, "en-US"));
const german = await readPages(join(handbook, "de-DE"));
await mkdir(out, { recursive: true });
await writeFile(join(out, "english.txt"), english.map(({ text }) => text).join("\n\n"));
await writeFile(join(out, "german.txt"), german.map(({ text }) => text).join("\n\n"));
await writeFile(join(out, "code.txt"), await readPython(python));
const messages = conversation(english);
await writeFile(join(out, "chat.json"), JSON.stringify(messages));
const turns = messages.map(({ role, content }) => {
  return `<start_of_turn>${role === "user" ? "user" : "model"}\n${content}<end_of_turn>\n`;
});
await writeFile(join(out, "gemma.markers.txt"), turns.join(""));
await writeFile(join(out, "pico-calibration.txt"), generated("train", 200_000));
await writeFile(join(out, "pico.txt"), generated("held-out", 200_000));
