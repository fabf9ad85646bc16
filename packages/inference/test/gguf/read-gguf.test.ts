import assert from "node:assert/strict";
import { mkdtemp, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { InferenceError } from "../../src/errors.ts";
import { readGguf, readGgufStrings } from "../../src/gguf/index.ts";
import { picoModel } from "../engine/engine-under-test.ts";
import { GgufBytes } from "./gguf-bytes.ts";

const folder = await mkdtemp(join(tmpdir(), "eliza-gguf-"));
after(() => rm(folder, { recursive: true, force: true }));
const path = join(folder, "x.gguf");

async function read(bytes: Uint8Array) {
  await writeFile(path, bytes);
  return await readGguf(path, { keepArrayElements: 3 });
}

async function refused(bytes: Uint8Array): Promise<string> {
  const error = await read(bytes).then(
    () => assert.fail("it was read"),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof InferenceError, String(error));
  assert.equal(error.code, "MODEL_INVALID");
  assert.notEqual(error.hint, "");
  return error.message;
}

function small(): Buffer {
  return new GgufBytes()
    .header(2, 5)
    .string("general.architecture", "llama")
    .uint32("general.alignment", 64)
    .strings("tokens", ["<s>", "", "é", "four", "fünf"])
    .strings("few", ["a", "b"])
    .raw(new GgufBytes().text("long").u32(9).u32(6).u64(5).raw(Buffer.alloc(20)).bytes())
    .tensor("a", [64, 3], 3, 0)
    .tensor("b", [10], 0, 128)
    .pad(64)
    .raw(Buffer.alloc(128 + 40))
    .bytes();
}

test("a file's metadata and tensors are read, long arrays by their length", async () => {
  const file = await read(small());
  assert.equal(file.version, 3);
  assert.equal(file.metadata.get("general.architecture"), "llama");
  const tokens = file.metadata.get("tokens");
  assert.ok(typeof tokens === "object");
  assert.deepEqual([tokens.elementType, tokens.length, tokens.values], ["string", 5, undefined]);
  assert.deepEqual(await readGgufStrings(file, tokens, [4, 0, 2, 1]), ["fünf", "<s>", "é", ""]);
  await assert.rejects(readGgufStrings(file, tokens, [5]), /has no strings 5/);
  const few = file.metadata.get("few");
  assert.deepEqual(typeof few === "object" && few.values, ["a", "b"]);
  assert.deepEqual(file.tensors, [
    { name: "a", shape: [64, 3], type: "q4_1", offset: file.dataOffset, bytes: 120 },
    { name: "b", shape: [10], type: "f32", offset: file.dataOffset + 128, bytes: 40 },
  ]);
  assert.equal(file.dataOffset % 64, 0);
});

test("a file that was cut at any byte is refused", async () => {
  const whole = small();
  for (let length = 0; length < whole.length; length++) await refused(whole.subarray(0, length));
});

test("no changed byte brings anything but an answer or MODEL_INVALID", async () => {
  const whole = small();
  const metadataBytes = whole.length - 168;
  for (let at = 0; at < metadataBytes; at++) {
    for (const value of [0x00, 0x7f, 0xff]) {
      const damaged = Buffer.from(whole);
      damaged[at] = value;
      await read(damaged).catch((error: unknown) => {
        assert.ok(error instanceof InferenceError && error.code === "MODEL_INVALID", `byte ${at}: ${error}`);
      });
    }
  }
});

test("what is no GGUF file is told by what it is", async () => {
  assert.match(await refused(Buffer.alloc(0)), /the file is empty/);
  assert.match(await refused(Buffer.from("hi")), /it has 2 bytes/);
  assert.match(await refused(Buffer.from("PK\u0003\u0004...")), /begins with "PK.*, not with "GGUF"/);
  assert.match(await refused(Buffer.from("version https://git-lfs.github.com/spec/v1")), /Git LFS pointer/);
  assert.match(await refused(Buffer.from("<!DOCTYPE html><html>")), /web page/);
  assert.match(await refused(new GgufBytes().header(0, 0, 1).bytes()), /version is 1/);
  assert.match(await refused(new GgufBytes().header(0, 0, 0x03000000).bytes()), /big endian/);
  await assert.rejects(readGguf(folder), (error) => error instanceof InferenceError);
  await assert.rejects(
    readGguf(join(folder, "absent")),
    (error) => error instanceof InferenceError && error.code === "MODEL_NOT_FOUND",
  );
});

const huge = 0xffff_ffff_ffff_ffffn;
const hostile: Record<string, [GgufBytes, RegExp]> = {
  "a count of entries beyond the file": [new GgufBytes().header(0, huge), /key-values/],
  "a count of tensors beyond the file": [new GgufBytes().header(huge, 0), /tensors/],
  "a key as long as memory": [new GgufBytes().header(0, 1).u64(huge).raw(Buffer.alloc(64)), /a key needs/],
  "an empty key": [new GgufBytes().header(0, 1).text("").u32(4).u32(1).raw(Buffer.alloc(9)), /0 bytes long/],
  "a string as long as memory": [
    new GgufBytes().header(0, 1).text("k").u32(8).u64(huge).raw(Buffer.alloc(64)),
    /k needs/,
  ],
  "an array as long as memory": [
    new GgufBytes().header(0, 1).text("k").u32(9).u32(8).u64(huge).raw(Buffer.alloc(64)),
    /k needs/,
  ],
  "an unknown value type": [new GgufBytes().header(0, 1).text("k").u32(13).u64(0), /unknown type 13/],
  "an unknown element type": [
    new GgufBytes().header(0, 1).text("k").u32(9).u32(99).u64(1).u64(0),
    /array of the unknown type 99/,
  ],
  "arrays in arrays without end": [
    new GgufBytes()
      .header(0, 1)
      .text("k")
      .u32(9)
      .raw(Buffer.concat(Array.from({ length: 9000 }, nest))),
    /nests arrays more than 4 deep/,
  ],
  "a key that stands there twice": [
    new GgufBytes().header(0, 2).uint32("k", 1).uint32("k", 2),
    /the key k stands there twice/,
  ],
  "an alignment that is none": [
    new GgufBytes().header(0, 1).uint32("general.alignment", 48),
    /general.alignment is 48/,
  ],
  "five dimensions": [tensor([1, 1, 1, 1, 1], 0, 0), /5 dimensions/],
  "a shape whose product overflows": [tensor([2n ** 40n, 2n ** 40n], 0, 0), /has the shape/],
  "a shape of nothing": [tensor([0], 0, 0), /has the shape 0/],
  "a row that is no whole number of blocks": [tensor([33], 2, 0), /type q4_0 has the shape 33/],
  "an unknown tensor type": [tensor([32], 77, 0), /type 77, which is not known/],
  "a tensor of a cache's type": [tensor([32], 96, 0), /only caches may use/],
  "a tensor beyond the file": [tensor([32], 0, 64), /it is cut/],
  "a tensor far beyond the file": [tensor([32], 0, huge - 31n), /is cut|not aligned/],
  "a tensor that is not aligned": [tensor([1], 0, 1), /not aligned/],
  "a tensor without a name": [
    new GgufBytes().header(1, 0).tensor("", [1], 0, 0).pad().raw(Buffer.alloc(64)),
    /0 bytes long/,
  ],
  "a tensor that stands there twice": [
    new GgufBytes().header(2, 0).tensor("t", [1], 0, 0).tensor("t", [1], 0, 0).pad().raw(Buffer.alloc(64)),
    /the tensor t stands there twice/,
  ],
};

function nest(): Buffer {
  return new GgufBytes().u32(9).u64(1).bytes();
}

function tensor(shape: readonly (number | bigint)[], type: number, offset: number | bigint): GgufBytes {
  return new GgufBytes().header(1, 0).tensor("t", shape, type, offset).pad().raw(Buffer.alloc(64));
}

for (const [what, [bytes, message]] of Object.entries(hostile)) {
  test(`refused: ${what}`, async () => {
    assert.match(await refused(bytes.raw(Buffer.alloc(8)).bytes()), message);
  });
}

test("a sparse file of 100 GB with a hostile array is refused without memory for it", async () => {
  await writeFile(
    path,
    new GgufBytes()
      .header(0, 1)
      .text("k")
      .u32(9)
      .u32(8)
      .u64(10n ** 10n)
      .bytes(),
  );
  await truncate(path, 100 * 2 ** 30);
  const before = process.memoryUsage().rss;
  await assert.rejects(readGguf(path), /metadata is larger than|needs/);
  assert.ok(process.memoryUsage().rss - before < 64 * 2 ** 20);
});

test("a file of a thousand large texts is refused before they fill the memory", async () => {
  const bytes = new GgufBytes().header(0, 40);
  for (let index = 0; index < 40; index++) bytes.string(`k${index}`, "x".repeat(1_000_000));
  await assert.rejects(read(bytes.bytes()), /exceed 16777216 bytes/);
});

test("the model of the repository is read: qwen3, six layers of eleven tensors and the tied embeddings", async () => {
  const file = await readGguf(picoModel);
  const last = Math.max(...file.tensors.map((each) => each.offset + each.bytes));
  assert.equal(last, file.fileBytes);
  assert.equal(file.fileBytes, 11_718_944);
  assert.equal(file.metadata.get("general.architecture"), "qwen3");
  assert.equal(file.tensors.length, 6 * 11 + 2);
});
