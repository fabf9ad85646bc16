import { readFile, rename, writeFile } from "node:fs/promises";

const END = "<!-- end of results -->";

/** Puts text between a document's line `begin` and its end of results, beside and renamed. Throws if a line is missing. */
export async function writeSection(document: string, begin: string, body: string): Promise<void> {
  const text = await readFile(document, "utf8");
  const [from, to] = [text.indexOf(begin), text.indexOf(END)];
  if (from < 0 || to < from) throw new Error(`${document} lacks the line ${begin} or ${END}`);
  await writeFile(`${document}.new`, `${text.slice(0, from + begin.length)}\n\n${body}\n\n${text.slice(to)}`);
  await rename(`${document}.new`, document);
}
