import { type GgufFile, type GgufValue, readGgufStrings } from "../gguf/index.ts";

/** What a model's file says about messages. */
export interface ChatFormat {
  /** The template for a plain conversation; undefined for a model that was not tuned for messages. */
  template: string | undefined;
  /** The template for conversations with tools, where the model has one of its own. */
  toolTemplate: string | undefined;
  /** The text of the token that begins a sequence, "" where there is none. */
  bosToken: string;
  eosToken: string;
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
  };
}

async function tokenTexts(file: GgufFile, ids: readonly (GgufValue | undefined)[]): Promise<string[]> {
  const tokens = file.metadata.get("tokenizer.ggml.tokens");
  if (typeof tokens !== "object" || tokens.elementType !== "string") return ids.map(() => "");
  const known = ids.filter((id) => typeof id === "number" && id < tokens.length) as number[];
  const texts = await readGgufStrings(file, tokens, known);
  return ids.map((id) => (typeof id === "number" ? (texts[known.indexOf(id)] ?? "") : ""));
}
