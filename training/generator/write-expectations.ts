/**
 * Writes models/pico/expectations.json: what llama.cpp makes of the committed model, for tests of the engine.
 *
 *   write-expectations PICO_CHECK MODEL.gguf TOKENIZER.json OUT
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { LENGTHS, plantedCase, questionText, replyText } from "./evaluation-cases.ts";
import { shardRandom } from "./mixture.ts";
import { Tokenizer } from "./tokenizer.ts";

/** Below this distance to the second choice (in logits) another build may well answer otherwise. */
const SAFE_MARGIN = 1;
const EXPECTATION_STREAM = 4_000_000;

const CHATS: readonly (readonly string[])[] = [
  ["What colour is the sky?"],
  ["What is the opposite of hot?"],
  ["What sound does a cow make?"],
  ["Which day comes after Monday?"],
  ["How many legs does a spider have?"],
  ["What is 17 + 25?"],
  ["What is 100 - 58?"],
  ["What is 7 * 8?"],
  ["Count from 3 to 9."],
  ["Write this as JSON: name Mia, age 7"],
  ["Is a fox an animal?"],
  ["What is the capital of France?"],
  ["My dog is called Rex. What is my dog called?"],
  ["The password of the server is zebra-42. The server runs in Berlin. What is the password of the server?"],
  ["Remember that the code of the red kettle is 48213.", "What is the code of the red kettle?"],
  ["My name is Ada.", "My favourite colour is teal.", "What is my name?"],
  ["My name is Ada.", "My favourite colour is teal.", "What is my favourite colour?"],
  ["The key is under the mat.", "Tom lives in Oakridge.", "Where does Tom live?"],
  ["The code of the red kettle is 48213.", "What is the code of the red kettle? Reply with the value only."],
  ["Mia has 12 apples and finds 5 more. How many apples does Mia have now?"],
];
const TEXTS = [
  "The code of the red kettle is 48213.",
  "Hello, world! It's 12:30 - isn't it?",
  "  two  spaces\n\n\nand\ttabs \n end ",
  '{"name": "Mia", "age": 7, "tags": [true, null]}',
  "Grüße aus Zürich, naïve café, 東京, 🙂",
  "<|im_start|>user\nHi.<|im_end|>\n<|im_start|>assistant\n",
  "I'LL we've CAN'T 3.14159e-10 a_b-c/d\\e",
];

const main = (program: string, model: string, tokenizerPath: string, out: string): void => {
  const run = (argv: readonly string[], input: string): { stdout: string; stderr: string } => {
    const done = spawnSync(program, argv, { input, encoding: "utf8" });
    if (done.status !== 0)
      throw new Error(`write-expectations: ${program} ${argv[0]} failed: ${done.stderr}`);
    return done;
  };
  const complete = (prompt: string): { completion: string; margin: number } => {
    const { stdout, stderr } = run(["sample", model, "1", "0", "96"], prompt);
    const margin = Number(/margin ([0-9.]+)/.exec(stderr)?.[1]);
    return { completion: stdout, margin };
  };
  const chats = CHATS.map((turns) => {
    const messages: { role: string; content: string }[] = [];
    let prompt = "";
    let margin = Number.POSITIVE_INFINITY;
    for (const content of turns) {
      messages.push({ role: "user", content });
      const isLast = messages.length === 2 * turns.length - 1;
      prompt += `<|im_start|>user\n${content}<|im_end|>\n<|im_start|>assistant\n`;
      // How the model takes note of something is a matter of taste, so the replies before the last are given.
      const reply = isLast ? complete(prompt) : { completion: "OK.", margin };
      messages.push({ role: "assistant", content: reply.completion });
      prompt += `${reply.completion}<|im_end|>\n`;
      margin = Math.min(margin, reply.margin);
    }
    return { messages, margin };
  });
  const tokenizer = Tokenizer.fromFile(tokenizerPath);
  const recall = LENGTHS.flatMap((length) => {
    const found = plantedCase(shardRandom("held-out", length, EXPECTATION_STREAM), length, tokenizer);
    const picked = [0, Math.floor(found.questions.length / 2), found.questions.length - 1];
    const questions = picked.map((i) => {
      const question = found.questions[i]!;
      const reply = replyText(question).replace("<|im_end|>", "");
      const { completion, margin } = complete(found.context + questionText(question));
      return { text: questionText(question), reply, recalled: completion === reply, margin };
    });
    return [{ length, context: found.context, questions }];
  });
  const bytes = readFileSync(model);
  const expectations = {
    about:
      "Greedy replies of pico.gguf by llama.cpp on a CPU, f16 cache. Only replies whose every choice was at least " +
      `${SAFE_MARGIN} logit above the second one. A recall prompt is context + text; the reply ends with <|im_end|>.`,
    bytes: bytes.length,
    sha256: createHash("sha256").update(bytes).digest("hex"),
    tokens: TEXTS.map((text) => ({
      text,
      ids: run(["tokens", model], text).stdout.trim().split("\n").map(Number),
    })),
    chats: chats.filter(({ margin }) => margin >= SAFE_MARGIN),
    recall: recall.map((entry) => ({
      ...entry,
      questions: entry.questions.filter(({ margin, recalled }) => recalled && margin >= SAFE_MARGIN),
    })),
  };
  writeFileSync(`${out}.part`, `${JSON.stringify(expectations, null, 2)}\n`);
  renameSync(`${out}.part`, out);
  const kept = expectations.recall
    .map(({ length, questions }) => `${questions.length} at ${length}`)
    .join(", ");
  console.log(`${out}: ${expectations.chats.length} of ${CHATS.length} chats; recall questions ${kept}`);
};

const [program, model, tokenizerPath, out] = process.argv.slice(2);
if (!program || !model || !tokenizerPath || !out) {
  throw new Error("write-expectations: give PICO_CHECK, MODEL.gguf, TOKENIZER.json and OUT");
}
main(program, model, tokenizerPath, out);
