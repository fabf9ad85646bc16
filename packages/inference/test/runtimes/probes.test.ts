import assert from "node:assert/strict";
import { test } from "node:test";
import type { StreamReport } from "../../src/report.ts";
import { streamConfig } from "../engine/abi-streams.ts";
import { makeBundle, runtimesUnderTest } from "./runtimes-under-test.ts";

const { library, setFakes } = await runtimesUnderTest();

test("looking at runtimes loads no model: an empty file could be served", async () => {
  setFakes([{ name: "fake" }]);
  const context = library.create(await makeBundle(["model.gguf", "model.fake"]));
  await assert.rejects(library.open(context, streamConfig, { runtime: "nobody" }), {
    code: "BACKEND_UNAVAILABLE",
    message: /fake: could serve;.* llama\.cpp: could serve/,
  });
  await assert.rejects(library.open(context, streamConfig, { runtime: "llama.cpp" }), {
    code: "MODEL_INVALID",
  });
  await library.destroy(context);
});

test("drafted and accepted tokens are told by each read and summed in the report", async () => {
  setFakes([{ name: "fake" }]);
  const context = library.create(await makeBundle(["model.fake"]));
  const stream = await library.open(context, { ...streamConfig, draft_max: 3, max_tokens: 20 }, {});
  for (let turn = 0; turn < 2; turn++) {
    library.prefill(stream, Int32Array.of(65, 66, 67 + turn));
    const sums = { drafted: 0, accepted: 0 };
    for (let state = ""; state !== "final"; ) {
      const next = library.tryNext(stream);
      state = next.state;
      if (next.state === "pending") {
        await library.poll(context, 10_000);
        continue;
      }
      sums.drafted += next.drafted;
      sums.accepted += next.accepted;
    }
    assert.equal(sums.drafted, 60);
    assert.ok(sums.accepted > 0 && sums.accepted < 60);
    assert.deepEqual(((await library.report(stream)) as StreamReport).speculation, sums);
  }
  await library.close(stream);
  await library.destroy(context);
});
