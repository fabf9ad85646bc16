import { type GgufFile, type GgufValue, readGgufIntegers, readGgufStrings } from "../gguf/index.ts";
import type { ControlToken } from "./prompt-pieces.ts";

/** What a model's file says about messages. */
export interface ChatFormat {
  /** The template for a plain conversation; undefined for a model that was not tuned for messages. */
  template: string | undefined;
  /** The template for conversations with tools, where the model has one of its own. */
  toolTemplate: string | undefined;
  /** The text of the token that begins a sequence, "" where there is none. */
  bosToken: string;
  eosToken: string;
  /** What its vocabulary keeps apart from text. */
  controlTokens: readonly ControlToken[];
}

/** The chat templates of a file and the texts of the tokens that they write. */
export async function readChatFormat(file: GgufFile): Promise<ChatFormat> {
  const text = (value: GgufValue | undefined): string | undefined =>
    typeof value === "string" && value !== "" ? value : undefined;
  const { metadata } = file;
  const [bosToken = "", eosToken = ""] = await tokenTexts(file, [
    metadata.get("tokenizer.ggml.bos_token_id"),
    metadata.get("tokenizer.ggml.eos_token_id"),
  ]);
  return {
    template: text(metadata.get("tokenizer.chat_template")),
    toolTemplate: text(metadata.get("tokenizer.chat_template.tool_use")),
    bosToken,
    eosToken,
    controlTokens: await readControlTokens(file),
  };
}

/** Kinds of tokens that a text may only mean where markers are read: unknown and control. */
const apart = new Set([2, 3]);

async function readControlTokens(file: GgufFile): Promise<ControlToken[]> {
  const tokens = file.metadata.get("tokenizer.ggml.tokens");
  const types = file.metadata.get("tokenizer.ggml.token_type");
  if (typeof tokens !== "object" || tokens.elementType !== "string") return [];
  if (typeof types !== "object" || types.elementType !== "int32") return [];
  const ids = (await readGgufIntegers(file, types))
    .map((type, id) => (apart.has(type) ? id : -1))
    .filter((id) => id >= 0 && id < tokens.length);
  const texts = await readGgufStrings(file, tokens, ids);
  return ids.map((id, index) => ({ id, text: texts[index] ?? "" })).filter(({ text }) => text !== "");
}

async function tokenTexts(file: GgufFile, ids: readonly (GgufValue | undefined)[]): Promise<string[]> {
  const tokens = file.metadata.get("tokenizer.ggml.tokens");
  if (typeof tokens !== "object" || tokens.elementType !== "string") return ids.map(() => "");
  const known = ids.filter((id) => typeof id === "number" && id < tokens.length) as number[];
  const texts = await readGgufStrings(file, tokens, known);
  return ids.map((id) => (typeof id === "number" ? (texts[known.indexOf(id)] ?? "") : ""));
}
