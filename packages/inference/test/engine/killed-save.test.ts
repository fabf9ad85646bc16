import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { Inference } from "../../src/inference.ts";
import { libraryUnderTest, picoModel } from "./engine-under-test.ts";

const program = fileURLToPath(new URL("saving-program.ts", import.meta.url));

test("a save that is killed leaves the slot whole, and the next save sweeps what it left", async () => {
  const libraryPath = await libraryUnderTest();
  const folder = await mkdtemp(join(tmpdir(), "killed-"));
  const slot = join(folder, "conversation.slot");
  const inference = await Inference.open(picoModel, { libraryPath, contextSize: 2048, threads: 1 });
  const session = await inference.session({ maxTokens: 1 });
  let leftBehind = 0;
  try {
    for (let round = 0; round < 6; round++) {
      const saver = spawn(
        process.execPath,
        ["--conditions=source", "--import", "tsx", program, picoModel, libraryPath, slot],
        { stdio: ["ignore", "pipe", "ignore"] },
      );
      await once(saver.stdout, "data"); // the first save is done; the others follow at once
      await new Promise((resolve) => setTimeout(resolve, randomInt(1, 60)));
      saver.kill("SIGKILL");
      await once(saver, "close");
      const names = await readdir(folder);
      leftBehind += names.length - 1;
      assert.ok((await session.restore(slot)) > 1000, `round ${round}: ${names}`);
    }
    assert.ok((await stat(slot)).size > 1 << 20, "large enough to be caught in the middle");
    await session.save(slot);
    assert.deepEqual(await readdir(folder), ["conversation.slot"], `after ${leftBehind} were left behind`);
  } finally {
    await inference.close();
    await rm(folder, { recursive: true });
  }
});
