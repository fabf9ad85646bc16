import assert from "node:assert/strict";
import { test } from "node:test";
import { BuildError } from "../src/errors.ts";
import { requireTools } from "../src/toolchain.ts";

test("a missing compiler, cmake or ninja is named with the line that installs it", async () => {
  const path = process.env.PATH;
  process.env.PATH = "/nowhere";
  try {
    await assert.rejects(requireTools(), (error: unknown) => {
      assert.ok(error instanceof BuildError);
      assert.equal(error.code, "TOOL_MISSING");
      for (const tool of ["C compiler", "C++ compiler", "cmake", "ninja"]) {
        assert.ok(error.message.includes(tool), `${tool} in: ${error.message}`);
        assert.match(error.hint, new RegExp(`${tool.replaceAll("+", "\\+")}: \\S+ install`));
      }
      return true;
    });
  } finally {
    process.env.PATH = path;
  }
});
