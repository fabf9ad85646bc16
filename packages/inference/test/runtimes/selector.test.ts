import assert from "node:assert/strict";
import { describe, test } from "node:test";
import koffi from "koffi";
import { libraryUnderTest } from "../engine/engine-under-test.ts";
import { runtimesUnderTest } from "./runtimes-under-test.ts";
import { outcomeOf, selectorRows } from "./selector-rows.ts";

const runtimes = await runtimesUnderTest();

describe("the selector", () => {
  for (const row of selectorRows) {
    test(row.row, async () => {
      const { answers, candidates, error } = await outcomeOf(row, runtimes);
      assert.equal(answers, row.answers, error?.message);
      assert.equal(error?.code, row.refused?.code, error?.message);
      for (const words of row.refused?.words ?? []) assert.match(error!.message, words);
      if (!answers) return;
      assert.deepEqual(
        candidates.filter(({ chosen }) => chosen).map(({ runtime }) => runtime),
        [answers],
      );
      assert.ok(candidates.every(({ reason }) => reason !== ""));
      for (const [runtime, reason] of Object.entries(row.reasons ?? {})) {
        assert.match(candidates.find((candidate) => candidate.runtime === runtime)?.reason ?? "", reason);
      }
    });
  }

  test("no bundle, and one that is not there", async () => {
    const create = koffi
      .load(await libraryUnderTest())
      .func("eliza_inference_create", "void *", ["const char *", "_Out_ char **"]);
    for (const [bundle, code] of [
      [null, "INVALID_ARGUMENT"],
      ["", "INVALID_ARGUMENT"],
      ["/nowhere/at/all", "MODEL_NOT_FOUND"],
    ] as const) {
      const error: [string | null] = [null];
      assert.equal(create(bundle, error), null);
      assert.ok(error[0]?.startsWith(`${code}: `), String(error[0]));
    }
  });
});
