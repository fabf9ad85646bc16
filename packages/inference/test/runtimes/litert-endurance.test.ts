/**
 * What strangers' files and impatient readers do to a process. The counts are small here; all of them by
 * ELIZA_ENDURANCE=full (docs/runtimes.md).
 */
import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { Inference } from "../../src/inference.ts";
import { libraryUnderTest, picoModel } from "../engine/engine-under-test.ts";
import { noLitert, tinyModel } from "./litert-under-test.ts";
import { openMutatedFiles } from "./mutated-files.ts";
import { cancelAtRandom } from "./random-cancels.ts";

const isFull = process.env.ELIZA_ENDURANCE === "full";
const libraryPath = await libraryUnderTest();

describe("LiteRT-LM endures", { skip: noLitert }, () => {
  let pico: Inference;
  let alone = "";
  const answer = async (): Promise<string> => {
    let text = "";
    for await (const piece of pico.stream("The capital of", { maxTokens: 8 })) text += piece.text;
    return text;
  };
  // llama.cpp in the same process, all the while.
  const beside = async (): Promise<void> => assert.equal(await answer(), alone);

  before(async () => {
    pico = await Inference.open(picoModel, { libraryPath });
    alone = await answer();
  });
  after(() => pico.close());

  test("mutated and cut files: an error or a model, never a crash", async (t) => {
    const [count, seed] = [isFull ? 1000 : 40, Number(process.env.ELIZA_SEED ?? randomInt(2 ** 31))];
    const tally = await openMutatedFiles(tinyModel, { count, seed, libraryPath, beside });
    t.diagnostic(`seed ${seed}: ${JSON.stringify(tally)}`);
    const refused = Object.values(tally.refused).reduce((sum, each) => sum + each, 0);
    assert.equal(tally.opened + refused, count);
    assert.deepEqual(
      Object.keys(tally.refused).filter(
        (code) => !["MODEL_INVALID", "NOT_IMPLEMENTED", "CONTEXT_FULL", "NATIVE_FAULT"].includes(code),
      ),
      [],
    );
  });

  test("cancels at random points: the session goes on with the right text", async (t) => {
    const [count, seed] = [isFull ? 200 : 24, Number(process.env.ELIZA_SEED ?? randomInt(2 ** 31))];
    const cut = await cancelAtRandom(tinyModel, { count, seed, libraryPath, beside });
    t.diagnostic(`seed ${seed}: ${cut} of ${count} were cut before their end`);
    assert.ok(cut > count / 8, `only ${cut} of ${count} were cut`);
  });
});
