import assert from "node:assert/strict";
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { applyEdits, type Edit, parseEdit, updateEditedTree } from "../src/edits.ts";
import { BuildError } from "../src/errors.ts";

const edit = (over: Partial<Edit> = {}): Edit => ({
  id: "10-x.edit",
  file: "src/a.c",
  reason: "a test",
  anchor: "int a;",
  replacement: "int b;",
  ...over,
});

const rejectsWith =
  (code: string, ...words: string[]) =>
  (error: unknown) => {
    assert.ok(error instanceof BuildError);
    assert.equal(error.code, code);
    for (const word of words) assert.ok(error.message.includes(word), `${word} in: ${error.message}`);
    return true;
  };

describe("edits", () => {
  let root = "";
  before(async () => {
    root = await mkdtemp(join(tmpdir(), "edits-"));
    await mkdir(join(root, "src"));
  });
  after(() => rm(root, { recursive: true }));
  const write = (text: string) => writeFile(join(root, "src/a.c"), text);
  const read = () => readFile(join(root, "src/a.c"), "utf8");

  test("an anchor that occurs once is replaced, letter by letter", async () => {
    await write("// $& $1\nint a;\nint c;\n");
    await applyEdits(root, [edit({ replacement: "$& \\n $1" })]);
    assert.equal(await read(), "// $& $1\n$& \\n $1\nint c;\n");
  });

  test("an anchor that is absent or occurs twice fails, names file, edit and reason, and changes nothing", async () => {
    await write("int a; int a;\nint c;\n");
    const first = edit({ anchor: "int c;", replacement: "int d;" });
    await assert.rejects(
      applyEdits(root, [first, edit()]),
      rejectsWith("EDIT_NOT_UNIQUE", "2 times", "src/a.c", "10-x.edit", "a test"),
    );
    assert.equal(await read(), "int a; int a;\nint c;\n");
    await assert.rejects(
      applyEdits(root, [edit({ anchor: "gone" })]),
      rejectsWith("EDIT_NOT_UNIQUE", "0 times"),
    );
    await assert.rejects(applyEdits(root, [edit({ file: "no.c" })]), rejectsWith("EDIT_NOT_UNIQUE", "no.c"));
  });

  test("later edits of a file see the earlier ones", async () => {
    await write("int a;\n");
    await applyEdits(root, [edit(), edit({ anchor: "int b;", replacement: "int z;" })]);
    assert.equal(await read(), "int z;\n");
  });

  test("an edited tree follows its edits; files they do not change keep their time", async () => {
    await write("int a;\n");
    await writeFile(join(root, "src/same.c"), "int s;\n");
    const tree = join(await mkdtemp(join(tmpdir(), "edited-")), "tree");
    const text = (name: string) => readFile(join(tree, "src", name), "utf8");
    const time = async (name: string) => (await stat(join(tree, "src", name))).mtimeMs;
    const kept = edit({ file: "src/same.c", anchor: "int s;", replacement: "int t;" });
    await updateEditedTree(root, tree, [edit(), kept]);
    assert.equal(await text("a.c"), "int b;\n");
    const before = await time("same.c");
    await new Promise((done) => setTimeout(done, 20));
    await updateEditedTree(root, tree, [kept]);
    assert.equal(await text("a.c"), "int a;\n");
    assert.equal(await text("same.c"), "int t;\n");
    assert.equal(await time("same.c"), before);
    await assert.rejects(updateEditedTree(root, tree, [edit({ anchor: "gone" })]));
    assert.equal(await text("same.c"), "int t;\n");
  });

  test("the text form keeps inner line breaks and nothing around them", () => {
    const text = "file: src/a.c\nreason: why\n--- anchor\na\n\nb\n--- replacement\n  c\nd\n--- end\n";
    assert.deepEqual(parseEdit("1.edit", text), {
      id: "1.edit",
      file: "src/a.c",
      reason: "why",
      anchor: "a\n\nb",
      replacement: "  c\nd",
    });
    for (const broken of [
      "",
      "file: a\n",
      text.replace("--- end", "--- e"),
      text.replace("reason: why\n", ""),
    ]) {
      assert.throws(() => parseEdit("1.edit", broken), rejectsWith("EDIT_MALFORMED", "1.edit"));
    }
  });
});
