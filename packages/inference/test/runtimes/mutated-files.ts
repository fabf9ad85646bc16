import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { InferenceError } from "../../src/errors.ts";
import { Inference } from "../../src/inference.ts";

export interface MutationTally {
  /** files that opened, and generated what they generated */
  opened: number;
  /** files that were refused, by the error's code */
  refused: Record<string, number>;
  /** of these, files on which the process that looked at them first ended with a signal or did not answer */
  died: number;
}

/** Numbers in [0, 1) from a seed. Mulberry32, Tommy Ettinger. */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A copy that was cut, or has bytes changed: in the header, in a section, at a section's begin. */
export function mutate(file: Buffer, random: () => number): Buffer {
  const at = (from: number, to: number): number => from + Math.floor(random() * (to - from));
  const headerEnd = Number(file.readBigUInt64LE(24));
  const copy = Buffer.from(file);
  const overwrite = (from: number, count: number): Buffer => {
    for (let i = from; i < Math.min(from + count, copy.length); i++) copy[i] = at(0, 256);
    return copy;
  };
  switch (at(0, 6)) {
    case 0: // anywhere
      return copy.subarray(0, at(0, copy.length));
    case 1: // in the first sections, where a cut is worst
      return copy.subarray(0, at(0, 3 * 16384));
    case 2: {
      const place = at(8, headerEnd);
      copy[place] = copy[place]! ^ (1 << at(0, 8));
      return copy;
    }
    case 3:
      return overwrite(at(8, headerEnd), at(1, 9));
    case 4: // small: the library has no checksum
      return overwrite(at(headerEnd, copy.length), at(1, 65));
    default:
      return overwrite(at(1, Math.floor(copy.length / 16384)) * 16384, at(1, 257));
  }
}

/**
 * Opens `count` mutated copies of a model and generates from those that open. Whatever else happens is thrown: an error
 * that is no InferenceError, a generation that does not end. A crash ends the process.
 */
export async function openMutatedFiles(
  model: string,
  options: { count: number; seed: number; libraryPath: string; beside: () => Promise<void> },
): Promise<MutationTally> {
  const random = randomFrom(options.seed);
  const whole = await readFile(model);
  const tally: MutationTally = { opened: 0, refused: {}, died: 0 };
  const folder = await mkdtemp(join(tmpdir(), "eliza-mutated-"));
  try {
    for (let i = 0; i < options.count; i++) {
      // A folder each: what was found out about a file is remembered by its path, size and time.
      const place = join(folder, String(i));
      await mkdir(place);
      const path = join(place, "mutated.litertlm");
      await writeFile(path, mutate(whole, random));
      try {
        await generate(path, options.libraryPath);
        tally.opened++;
      } catch (error) {
        if (!(error instanceof InferenceError)) throw error;
        tally.refused[error.code] = (tally.refused[error.code] ?? 0) + 1;
        if (/ends with signal|did not open it in time/.test(error.message)) tally.died++;
      }
      await rm(place, { recursive: true, force: true });
      if (i % 16 === 0) await options.beside();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return tally;
}

async function generate(path: string, libraryPath: string): Promise<void> {
  const inference = await Inference.open(path, { libraryPath, runtime: "litert-lm", threads: 1 });
  try {
    for await (const _ of inference.stream("Once upon a time", { maxTokens: 12 })) {
    }
  } finally {
    await inference.close();
  }
}
