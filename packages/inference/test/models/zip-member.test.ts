import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { FetchError } from "@eliza-inference/fetch";
import { readZipMember } from "../../src/models/zip-member.ts";
import { zip } from "./model-server.ts";

const folder = await mkdtemp(join(tmpdir(), "eliza-zip-"));
after(() => rm(folder, { recursive: true, force: true }));

async function read(archive: Buffer, member: string): Promise<Buffer> {
  const path = join(folder, "x.zip");
  await writeFile(path, archive);
  const pieces: Buffer[] = [];
  for await (const piece of readZipMember(path, member)) pieces.push(piece);
  return Buffer.concat(pieces);
}

const invalid = (error: unknown): boolean => error instanceof FetchError && error.code === "ARCHIVE_INVALID";
const members = { a: Buffer.from("first"), "b/c": Buffer.alloc(700_000, "xyz"), empty: Buffer.alloc(0) };

test("members come out as they went in, stored or deflated", async () => {
  for (const stored of [false, true]) {
    for (const [name, content] of Object.entries(members)) {
      assert.ok(content.equals(await read(zip(members, stored), name)), `${name} ${stored}`);
    }
  }
});

test("every truncation and every flipped byte of an archive is an error or the right content, and soon", async () => {
  const archive = zip({ a: Buffer.from("first and only member, first and only") });
  for (let cut = 0; cut < archive.length; cut++) {
    await assert.rejects(read(archive.subarray(0, cut), "a"), invalid, `cut at ${cut}`);
  }
  for (let at = 0; at < archive.length; at++) {
    const damaged = Buffer.from(archive);
    damaged[at] = (damaged[at] ?? 0) ^ 0xff;
    try {
      assert.ok((await read(damaged, "a")).length <= 37);
    } catch (error) {
      assert.ok(invalid(error), `byte ${at}: ${error}`);
    }
  }
});

test("what is no archive, or lacks the member, is told", async () => {
  await assert.rejects(read(Buffer.alloc(100), "a"), invalid);
  await assert.rejects(read(zip(members), "missing"), /no member missing/);
});
