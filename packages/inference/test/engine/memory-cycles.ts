// Run by many-streams.test.ts with --expose-gc: how far resident memory grows over cycles, as JSON.
import { Inference } from "../../src/inference.ts";

const [model = "", libraryPath = ""] = process.argv.slice(2);

function settle(): number {
  for (let i = 0; i < 4; i++) globalThis.gc?.();
  return process.memoryUsage.rss();
}

async function growth(
  cycles: number,
  warmUp: number,
  cycle: () => Promise<void>,
): Promise<{ growthBytes: number }> {
  for (let i = 0; i < warmUp; i++) await cycle();
  const before = settle();
  for (let i = 0; i < cycles; i++) await cycle();
  return { growthBytes: settle() - before };
}

const inference = await Inference.open(model, {
  libraryPath,
  contextSize: 512,
  cacheTypeK: "turbo4",
  cacheTypeV: "turbo4",
});
const streams = await growth(200, 20, async () => {
  await inference.stream("one two", { maxTokens: 2 }).text();
});
await inference.close();
// What the allocator keeps for reuse is as large as it gets after some twenty models.
const models = await growth(20, 20, async () => {
  const other = await Inference.open(model, { libraryPath, contextSize: 512 });
  await other.stream("one two", { maxTokens: 2 }).text();
  await other.close();
});
console.log(JSON.stringify({ streams, models }));
