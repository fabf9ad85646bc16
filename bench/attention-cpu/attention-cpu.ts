import { parseArgs } from "node:util";
import { ensureNativeLibrary } from "@eliza-inference/build";
import { type Summary, show, summarise } from "../statistics/summary.ts";
import {
  type AttentionOp,
  type AttentionShape,
  type AttentionTree,
  loadAttentionTree,
} from "./attention-op.ts";

interface Case {
  readonly name: string;
  readonly shape: AttentionShape;
  readonly types: readonly string[];
}

const OURS = ["turbo4", "turbo4_tcq", "turbo3_tcq", "turbo2_tcq"];
const STOCK = ["q8_0", "q4_0", "iq4_nl"];
/** What pristine llama.cpp runs in the same rounds. */
const PEERS = ["f16", "q4_0"];

function decode(headDim: number, heads: number, headsKv: number, kv: number, types: readonly string[]): Case {
  return {
    name: `decode, head_dim ${headDim}, ${heads}/${headsKv} heads, n_kv ${kv}`,
    shape: { headDim, heads, headsKv, kv, queries: 1 },
    types,
  };
}

const CASES: readonly Case[] = [
  decode(128, 32, 8, 512, [...OURS, ...STOCK]),
  decode(128, 32, 8, 4096, [...OURS, ...STOCK]),
  decode(128, 32, 8, 32768, [...OURS, ...STOCK]),
  decode(128, 32, 8, 131072, ["turbo4"]),
  decode(64, 9, 3, 512, OURS),
  decode(64, 9, 3, 8192, OURS),
  decode(256, 4, 1, 512, OURS),
  decode(256, 4, 1, 8192, OURS),
  decode(512, 8, 1, 4096, OURS),
  {
    name: "prefill of 512, head_dim 128, 32/8 heads, n_kv 4096",
    shape: { headDim: 128, heads: 32, headsKv: 8, kv: 4096, queries: 512 },
    types: [...OURS, ...STOCK],
  },
];

interface Row {
  readonly case: string;
  readonly type: string;
  readonly milliseconds: Summary;
  /** The peer's time over ours, round by round; above 1 ours is faster. */
  readonly speedup: Record<string, Summary>;
  /** Milliseconds in which memory would give K and V to these threads. */
  readonly floor: number;
}

function runCase(
  { name, shape, types }: Case,
  trees: { edited: AttentionTree; pristine: AttentionTree },
  options: { rounds: number; threads: number; bandwidth: number },
): Row[] {
  const peers = new Map<string, AttentionOp>();
  const ours = new Map<string, AttentionOp>();
  for (const type of PEERS) {
    const op = trees.pristine.open(type, shape, options.threads);
    if (op) peers.set(type, op);
  }
  for (const type of types) {
    const op = trees.edited.open(type, shape, options.threads);
    if (op) ours.set(type, op);
  }
  const times = new Map<AttentionOp, number[]>();
  const all = [...peers.values(), ...ours.values()];
  for (const op of all) op.run();
  for (let round = 0; round < options.rounds; round++) {
    for (const op of all) times.set(op, [...(times.get(op) ?? []), op.run()]);
  }
  const rows = [...ours].map(([type, op]): Row => {
    const own = times.get(op)!;
    const speedup = Object.fromEntries(
      [...peers].map(([peer, peerOp]) => [
        peer,
        summarise(times.get(peerOp)!.map((time, round) => time / own[round]!)),
      ]),
    );
    return {
      case: name,
      type,
      milliseconds: summarise(own.map((time) => time / 1e6)),
      speedup,
      floor: (op.bytes / options.bandwidth) * 1e3,
    };
  });
  for (const op of all) op.close();
  return rows;
}

/** Attention on the CPU: ours in turn with pristine llama.cpp's over f16 and q4_0, in one process. */
export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      json: { type: "boolean", default: false },
      rounds: { type: "string", default: "9" },
      threads: { type: "string", default: "2" },
      case: { type: "string", default: "" },
    },
  });
  const threads = Number(values.threads);
  const trees = {
    edited: loadAttentionTree((await ensureNativeLibrary()).tool("eliza-attention-op")),
    pristine: loadAttentionTree(
      (await ensureNativeLibrary({ variant: "pristine" })).tool("eliza-attention-op"),
    ),
  };
  const bandwidth = Math.max(...Array.from({ length: 5 }, () => trees.edited.bandwidth(threads)));
  const rows: Row[] = [];
  if (!values.json) {
    console.log(`${threads} threads; memory gives them ${(bandwidth / 1e9).toFixed(1)} GB/s`);
  }
  for (const one of CASES.filter(({ name }) => name.includes(values.case))) {
    const found = runCase(one, trees, { rounds: Number(values.rounds), threads, bandwidth });
    rows.push(...found);
    if (values.json) continue;
    console.log(`\n${one.name}`);
    console.log(
      `${"type".padEnd(14)}${"ms".padEnd(24)}${PEERS.map((peer) => `times as fast as pristine ${peer}`.padEnd(34)).join("")}floor of memory, ms`,
    );
    for (const { type, milliseconds, speedup, floor } of found) {
      console.log(
        `${type.padEnd(14)}${show(milliseconds, 2).padEnd(24)}${PEERS.map((peer) => show(speedup[peer]!, 2).padEnd(34)).join("")}${floor.toFixed(2)}`,
      );
    }
  }
  if (values.json) {
    console.log(JSON.stringify({ benchmark: "attention-cpu", threads, bandwidth, rows }, null, 2));
  }
}
