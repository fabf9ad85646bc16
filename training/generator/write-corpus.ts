/** Writes plain training text for the tokenizer: write-corpus FILE MEGABYTES */
import { createWriteStream } from "node:fs";
import { fillerDocument, nextDocument, shardRandom } from "./mixture.ts";
import { inventedWord } from "./phrases.ts";

const [path, megabytes] = process.argv.slice(2);
if (!path || !(Number(megabytes) > 0)) throw new Error("write-corpus: give a FILE and a number of MEGABYTES");
const out = createWriteStream(path);
// A stream of its own: length 0 is no window's.
const random = shardRandom("train", 0, 0);
let written = 0;
while (written < Number(megabytes) * 1e6) {
  const document = random.chance(0.5) ? nextDocument(random, 1024) : fillerDocument(random, 1500);
  const text = document.text.replace(/<\|[a-z_]+\|>/g, "\n");
  written += text.length;
  out.write(`${text}\n${inventedWord(random)}\n`);
}
out.end();
