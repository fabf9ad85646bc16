import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { describe, test } from "node:test";
import { ensureNativeLibrary } from "../src/index.ts";

const library = await ensureNativeLibrary();
const { stdout, status } = spawnSync(library.tool("eliza-native-tests"), { encoding: "utf8" });
const lines = stdout.split("\n");

describe("native units", () => {
  for (const [index, line] of lines.entries()) {
    const match = /^(ok|not ok) \d+ - (.*)$/.exec(line);
    if (!match) continue;
    const comments: string[] = [];
    for (let at = index - 1; at >= 0 && lines[at]!.startsWith("#"); at--) comments.unshift(lines[at]!);
    test(match[2]!, () => assert.equal(match[1], "ok", comments.join("\n")));
  }
  test("all of them ran", () => {
    const planned = Number(/^1\.\.(\d+)/.exec(stdout)?.[1]);
    assert.ok(planned >= 25);
    assert.equal(lines.filter((line) => /^(ok|not ok) /.test(line)).length, planned);
    assert.equal(status, 0);
  });
});
