import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { type ContextHandle, NativeLibrary, type StreamHandle } from "../../src/native/native-library.ts";
import { normals, type TinyArchitecture, type TinyModel, writeTinyModel } from "../map/tiny-model.ts";
import { readToEnd, streamConfig } from "./abi-streams.ts";
import { libraryUnderTest } from "./engine-under-test.ts";

const library = NativeLibrary.load(await libraryUnderTest());
const LENGTH = 400;
const GENERATED = 12;

/** 400 tokens, which is far beyond the window of 24 and what llama.cpp's window cache has cells for (256). */
function prompt(vocabulary: number): Int32Array {
  const draw = normals(5);
  return Int32Array.from(
    { length: LENGTH },
    () => 4 + (Math.floor(Math.abs(draw()) * 1e6) % (vocabulary - 4)),
  );
}

describe("a sequence that goes back", () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "eliza-window-"));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  for (const [architecture, k, v] of [
    ["gemma3", "f16", "f16"],
    ["gemma3", "q4_0", "turbo4"],
    ["gemma4", "f16", "f16"],
    ["gemma4", "turbo4", "q8_0"],
    ["llama", "f16", "f16"],
  ] as [TinyArchitecture, string, string][]) {
    describe(`${architecture}, ${k} and ${v}`, () => {
      let model: TinyModel;
      let context: ContextHandle;
      let all: Int32Array;
      const config = { ...streamConfig, max_tokens: GENERATED, cache_type_k: k, cache_type_v: v };
      // Tokens before a cut that the exact window had left are read as they were coded, a fresh sequence's are exact.
      const options = { threads: 1, run_ahead: true, exact_tokens: 0, exact_sinks: 0 };
      const open = (ubatch = 64): Promise<StreamHandle> =>
        library.open(context, config, { ...options, ubatch_size: ubatch });
      before(async () => {
        model = await writeTinyModel(folder, architecture, { tokenizer: true });
        context = library.create(model.path);
        all = prompt(model.vocabulary);
      });
      after(() => library.destroy(context));

      const read = async (stream: StreamHandle, ids: Int32Array): Promise<number[]> => {
        library.prefill(stream, ids);
        return readToEnd(library, context, stream);
      };
      const fresh = async (ids: Int32Array): Promise<number[]> => {
        const stream = await open();
        try {
          return await read(stream, ids);
        } finally {
          await library.close(stream);
        }
      };

      test("answers as a fresh one does, wherever it is cut", async () => {
        const next = Int32Array.of(5, 9, 33, 7);
        const kept: number[] = [];
        for (const cut of [
          1, 2, 12, 23, 24, 25, 100, 143, 144, 145, 255, 256, 257, 320, 370, 376, 377, 390, 399,
        ]) {
          const stream = await open();
          await read(stream, all);
          const held = await library.resetKeep(stream, cut);
          assert.ok(held === cut || held === 0, `cut ${cut}: ${held}`);
          kept.push(held);
          const rest = Int32Array.from([...all.subarray(held, cut), ...next]);
          const expected = await fresh(Int32Array.from([...all.subarray(0, cut), ...next]));
          assert.deepEqual(await read(stream, rest), expected, `cut ${cut}, ${held} kept`);
          await library.close(stream);
        }
        // what is near the end is really kept, and without windows everything is
        assert.equal(kept.at(-1), 399);
        if (architecture === "llama") assert.ok(kept.every((held) => held > 0));
      });

      // A row that decode computed differs in its last bit from one of a prompt, which may be a code's width in a coded
      // cache, so only uncoded ones say the same after generations of their own.
      test("goes back again and again", { skip: k !== "f16" }, async () => {
        const stream = await open();
        await read(stream, all);
        let sequence = [...all];
        for (const [round, cut] of [390, 380, 380, 371, 200, 190, 12].entries()) {
          const held = await library.resetKeep(stream, cut);
          const next = [5 + round, 9, 33];
          const answer = await read(stream, Int32Array.from([...sequence.slice(held, cut), ...next]));
          sequence = [...sequence.slice(0, cut), ...next];
          assert.deepEqual(answer, await fresh(Int32Array.from(sequence)), `round ${round}, ${held} kept`);
        }
        await library.close(stream);
      });

      test("that was cancelled in a prompt goes on as a fresh one does", async () => {
        const stream = await open(16);
        await read(stream, all.subarray(0, 40));
        assert.equal(await library.resetKeep(stream, 40), 40);
        library.prefill(stream, all.subarray(40));
        library.cancel(stream);
        const there = (await library.tokens(stream)).length;
        const held = await library.resetKeep(stream, there);
        const answer = await read(stream, all.subarray(held));
        assert.deepEqual(answer, await fresh(all), `${there} there, ${held} kept`);
        await library.close(stream);
      });
    });
  }
});
