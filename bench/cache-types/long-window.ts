import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { ensureNativeLibrary } from "@eliza-inference/build";
import { Inference } from "eliza-inference";
import { TEXT } from "./chunks.ts";

const DOCUMENTS = ["docs/formats.md"];

/** What the long text ends with: a base model that has lost its way does not finish it. */
const ENDING = "\n\nThe days of the week are Monday, Tuesday, Wednesday,";

/** Greedy continuations of a prompt that is many windows long, by each cache type, beside f16's. */
export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      model: { type: "string", default: "gemma3-270m" },
      types: { type: "string", default: "turbo4,turbo4_tcq,turbo3_tcq,turbo4/turbo3_tcq" },
      tokens: { type: "string", default: "8000" },
      generate: { type: "string", default: "24" },
      threads: { type: "string", default: "2" },
      map: { type: "string", default: "off" },
      json: { type: "boolean", default: false },
    },
  });
  const libraryPath = (await ensureNativeLibrary()).library;
  const texts = [...DOCUMENTS.map((path) => fileURLToPath(new URL(`../../${path}`, import.meta.url))), TEXT];
  const text = (await Promise.all(texts.map((path) => readFile(path, "utf8")))).join("\n");
  const generate = Number(values.generate);
  const rows: { type: string; text: string; sameTokens: number; promptTokens: number }[] = [];
  let exact: number[] = [];
  for (const type of ["f16", ...values.types.split(",")]) {
    const [k = "", v = k] = type.split("/"); // a type for both sides, or K/V
    await using inference = await Inference.open(values.model, {
      libraryPath,
      contextSize: Number(values.tokens) + generate + 64,
      cacheTypeK: k,
      cacheTypeV: v,
      threads: Number(values.threads),
      kvMap: k === "f16" && v === "f16" ? "off" : values.map,
    });
    const body = (await inference.tokenize(text)).slice(0, Number(values.tokens));
    const prompt = (await inference.detokenize(body)) + ENDING;
    const tokens: number[] = [];
    let reply = "";
    for await (const chunk of inference.stream(prompt, { maxTokens: generate })) {
      tokens.push(...chunk.tokens);
      reply += chunk.text;
    }
    if (type === "f16") exact = tokens;
    const differs = tokens.findIndex((token, i) => token !== exact[i]);
    const row = {
      type,
      text: reply,
      sameTokens: differs < 0 ? tokens.length : differs,
      promptTokens: body.length,
    };
    rows.push(row);
    if (!values.json)
      console.log(`${type} after ${body.length} tokens, ${row.sameTokens} tokens as f16:\n${reply}\n`);
  }
  if (values.json)
    console.log(JSON.stringify({ benchmark: "long-window", model: values.model, rows }, null, 2));
}
