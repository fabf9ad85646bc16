// Changes that must not pass the gate: of the contract, the evidence, the fixtures, the kernels, the README.
import { type Evidence, sealOf } from "../src/evidence.ts";
import { harnessHash } from "../src/harness-hash.ts";
import { kernelById } from "../src/kernels.ts";
import type { PlantedTree } from "./planted-tree.ts";

// biome-ignore lint/suspicious/noExplicitAny: files are broken here in ways that no type allows
type Loose = any;

const CONTRACT = "contract/kernel-contract.json";
const EMULATED = "contract/evidence/cuda/emulated-x64.json";
const METAL = "contract/evidence/metal/emulated-x64.json";
const SOFTWARE = "contract/evidence/vulkan/llvmpipe.json";
const COMPILED = "contract/evidence/vulkan/compiled.json";

export interface Attack {
  readonly change: string;
  /** What the gate must say. */
  readonly says: RegExp;
  readonly make: (tree: PlantedTree) => void;
  /** True if `npm run contract -- --write` after the change must not make it pass. */
  readonly evenIfWrittenAnew?: boolean;
}

function changeJson(tree: PlantedTree, file: string, work: (value: Loose) => void): void {
  const value = JSON.parse(tree.read(file)) as Loose;
  work(value);
  tree.write(file, `${JSON.stringify(value, null, 2)}\n`);
}

function contract(change: string, says: RegExp, work: (value: Loose) => void): Attack {
  return { change, says, make: (tree) => changeJson(tree, CONTRACT, work) };
}

function row(value: Loose, id: string): Loose {
  return value.kernels.find((kernel: Loose) => kernel.id === id);
}

/** Evidence changed by someone who knows how it is sealed. */
function forged(
  change: string,
  says: RegExp,
  work: (evidence: Loose) => void,
  files: { readonly from?: string; readonly to?: string } = {},
): Attack {
  const { from = EMULATED, to = from } = files;
  return {
    change,
    says,
    evenIfWrittenAnew: true,
    make: (tree) => {
      const evidence = JSON.parse(tree.read(from)) as Loose;
      work(evidence);
      evidence.seal = sealOf(evidence as Evidence);
      tree.write(to, `${JSON.stringify(evidence)}\n`);
    },
  };
}

function edited(change: string, says: RegExp, file: string, from: string, to: string): Attack {
  return { change, says, evenIfWrittenAnew: true, make: (tree) => tree.edit(file, from, to) };
}

function flipped(change: string, file: string): Attack {
  const says = new RegExp(
    `EVIDENCE_STALE[\\s\\S]*CONTRACT_DIFFERS fixtures\\.${file.replaceAll(".", "\\.")}`,
  );
  return { change, says, make: (tree) => tree.flip(file) };
}

const first = (evidence: Loose): Loose => evidence.kernels.turbo4_score;
const run = (evidence: Loose): Loose => first(evidence).runs[0];

export const ATTACKS: readonly Attack[] = [
  // Fixtures
  flipped("golden rows that a kernel reads", "fixtures/golden/turbo4-128.default.bin"),
  flipped("golden input rows", "fixtures/golden/rows-128.f32"),
  flipped("golden queries", "fixtures/golden/queries-64.f32"),
  flipped("a fixture after the elizaOS kernels document", "fixtures/turbo4.json"),
  {
    change: "golden input rows of a head size that no score case reads",
    says: /CONTRACT_DIFFERS fixtures\.fixtures\/golden\/rows-96\.f32/,
    make: (tree) => tree.flip("fixtures/golden/rows-96.f32"),
  },
  {
    change: "an attention fixture",
    says: /CONTRACT_DIFFERS fixtures\.fixtures\/attention\/causal-64\.out\.f32/,
    make: (tree) => tree.flip("fixtures/attention/causal-64.out.f32"),
  },
  {
    change: "a fused fixture",
    says: /CONTRACT_DIFFERS fixtures\.fixtures\/fused_attn_qjl_tbq\.json/,
    make: (tree) => tree.flip("fixtures/fused_attn_qjl_tbq.json"),
  },
  {
    change: "a score in the golden index",
    says: /EVIDENCE_STALE .*: the fixtures have changed[\s\S]*CONTRACT_DIFFERS fixtures\.fixtures\/golden\/index\.json/,
    make: (tree) =>
      changeJson(tree, "fixtures/golden/index.json", (index) => {
        index.formats[0].encoded.default.scores[0][0] += 1;
      }),
    evenIfWrittenAnew: true,
  },
  {
    change: "a format removed from the golden index",
    says: /EVIDENCE_STALE .*: the fixtures have changed/,
    make: (tree) =>
      changeJson(tree, "fixtures/golden/index.json", (index) => {
        index.formats = index.formats.filter((entry: Loose) => entry.name !== "turbo4");
      }),
    evenIfWrittenAnew: true,
  },
  {
    change: "a fixture removed",
    says: /CONTRACT_DIFFERS fixtures\.fixtures\/attention\/index\.json: .* nothing is derived/,
    make: (tree) => tree.remove("fixtures/attention/index.json"),
  },
  {
    change: "an empty fixture",
    says: /FIXTURE_EMPTY fixtures\/fused_attn_qjl_tbq\.json/,
    make: (tree) => tree.write("fixtures/fused_attn_qjl_tbq.json", ""),
    evenIfWrittenAnew: true,
  },
  {
    change: "a fixture added",
    says: /CONTRACT_DIFFERS fixtures\.fixtures\/golden\/more\.bin/,
    make: (tree) => tree.write("fixtures/golden/more.bin", "more"),
  },
  // Sources and tables
  edited(
    "a comment in a kernel's source",
    /EVIDENCE_STALE .*cuda\/emulated-x64\.json: turbo4_score: kernels\/cuda\/turbo4_score\.cu has changed/,
    "kernels/cuda/turbo4_score.cu",
    "// turbo4:",
    "// Turbo4:",
  ),
  edited(
    "a header of the kernels",
    /EVIDENCE_STALE .*llvmpipe\.json: qjl_score: .* has changed/,
    "kernels/vulkan/score.glsl",
    "// One workgroup",
    "// A workgroup",
  ),
  edited(
    "a table of the kernels",
    /EVIDENCE_STALE .*cpu\/.*: kernels\/cpu has changed/,
    "kernels/tables/signs-32.inc",
    "u",
    "U",
  ),
  edited(
    "the build flags of the CPU kernels",
    /EVIDENCE_STALE .*cpu\/.*: kernels\/cpu has changed/,
    "kernels/cpu/flags.txt",
    "-ffp-contract=off",
    "-ffp-contract=fast",
  ),
  {
    change: "a kernel's source removed",
    says: /EVIDENCE_STALE .*metal.*: turbo4_score: .* is not there[\s\S]*CONTRACT_DIFFERS kernels\.turbo4_score\.backends\.metal/,
    make: (tree) => tree.remove("kernels/metal/turbo4_score.metal"),
    evenIfWrittenAnew: true,
  },
  {
    change: "an entry point renamed",
    says: /EVIDENCE_STALE .*: tbq3_score: kernels\/cuda\/tbq3_score\.cu has changed/,
    make: (tree) =>
      tree.edit(
        "kernels/cuda/tbq3_score.cu",
        "(ELIZA_SCORE_KERNEL, eliza_tbq3_score,",
        "(ELIZA_SCORE_KERNEL, eliza_tbq3_dot,",
      ),
    evenIfWrittenAnew: true,
  },
  // The contract
  contract(
    "a claim removed",
    /CONTRACT_DIFFERS kernels\.turbo4_score\.backends\.cuda: nothing stands there/,
    (value) => {
      delete row(value, "turbo4_score").backends.cuda;
    },
  ),
  contract("a kernel's backends removed", /CONTRACT_DIFFERS kernels\.polar_score\.backends\.cpu/, (value) => {
    row(value, "polar_score").backends = {};
  }),
  contract("a whole backend removed", /CONTRACT_DIFFERS kernels\.\w+\.backends\.metal: nothing/, (value) => {
    for (const kernel of value.kernels) delete kernel.backends.metal;
  }),
  contract("a CPU claim removed", /CONTRACT_DIFFERS kernels\.kv_encode\.backends\.cpu: nothing/, (value) => {
    delete row(value, "kv_encode").backends.cpu;
  }),
  contract("a kernel removed", /CONTRACT_DIFFERS kernels\.qjl_get_rows: nothing stands there/, (value) => {
    value.kernels = value.kernels.filter(({ id }: Loose) => id !== "qjl_get_rows");
  }),
  contract(
    "a kernel that is not there",
    /CONTRACT_DIFFERS kernels\.turbo9_score: .* nothing is derived/,
    (value) => {
      value.kernels.push({ ...row(value, "turbo4_score"), id: "turbo9_score" });
    },
  ),
  contract("a kernel twice", /CONTRACT_DIFFERS kernels: other order or an entry twice/, (value) => {
    value.kernels.push(row(value, "turbo4_score"));
  }),
  contract("a kernel's formats exchanged", /CONTRACT_DIFFERS kernels\.turbo4_score\.formats/, (value) => {
    row(value, "turbo4_score").formats = ["tbq3"];
  }),
  contract("a kernel's formats removed", /CONTRACT_DIFFERS kernels\.trellis_score\.formats/, (value) => {
    row(value, "trellis_score").formats.pop();
  }),
  contract(
    "a kernel's capability exchanged",
    /CONTRACT_DIFFERS kernels\.turbo4_score\.capability/,
    (value) => {
      row(value, "turbo4_score").capability = "qjl_full";
    },
  ),
  contract("a capability that no kernel gives", /CONTRACT_DIFFERS capabilities/, (value) => {
    value.capabilities.push("mtp");
  }),
  contract("a target removed", /CONTRACT_DIFFERS targets\.darwin-arm64-metal: nothing/, (value) => {
    value.targets = value.targets.filter(({ id }: Loose) => id !== "darwin-arm64-metal");
  }),
  contract("a target's need exchanged", /CONTRACT_DIFFERS targets\.linux-x64-cuda\.needs/, (value) => {
    value.targets.find(({ id }: Loose) => id === "linux-x64-cuda").needs = "nothing more";
  }),
  contract("a kernel's fixtures removed", /CONTRACT_DIFFERS kernels\.turbo4_score\.fixtures/, (value) => {
    row(value, "turbo4_score").fixtures = [];
  }),
  contract("a fixture's hash exchanged", /CONTRACT_DIFFERS fixtures\.fixtures\/turbo4\.json/, (value) => {
    value.fixtures["fixtures/turbo4.json"] = "0".repeat(64);
  }),
  contract(
    "a claim that points at another file",
    /CONTRACT_DIFFERS kernels\.turbo4_score\.backends\.cuda\.source/,
    (value) => {
      row(value, "turbo4_score").backends.cuda.source = "kernels/cuda/score.cuh";
    },
  ),
  contract(
    "a status beyond what is shown",
    /polar_score\.backends\.metal\.status: "hardware" stands there, "emulated"/,
    (value) => {
      row(value, "polar_score").backends.metal.status = "hardware";
    },
  ),
  contract(
    "a status behind what is shown",
    /turbo4_score\.backends\.metal\.status: "authored" stands there, "emulated"/,
    (value) => {
      row(value, "turbo4_score").backends.metal.status = "authored";
    },
  ),
  contract(
    "a field of its own",
    /CONTRACT_DIFFERS note: "trust me" stands there, nothing is derived/,
    (value) => {
      value.note = "trust me";
    },
  ),
  { change: "no contract", says: /CONTRACT_DIFFERS the whole/, make: (tree) => tree.remove(CONTRACT) },
  // Evidence by hand, with a seal that fits
  forged("no cases", /EVIDENCE_INVALID .*turbo4_score\.runs\.0\.differences/, (evidence) => {
    run(evidence).differences = [];
  }),
  forged("a case left out", /EVIDENCE_INVALID .*turbo4_score: subgroup 32: \d+ cases of \d+/, (evidence) => {
    run(evidence).differences.pop();
  }),
  forged("a case skipped in silence", /1 cases are missing, 0 are said to be skipped/, (evidence) => {
    run(evidence).differences[0] = null;
  }),
  forged("a case skipped with a reason", /turbo4_score: skips cases/, (evidence) => {
    for (const entry of first(evidence).runs) entry.differences[0] = null;
    first(evidence).skipped = { "too hard": 1 };
  }),
  forged("a negative number of cases", /EVIDENCE_INVALID .*skipped/, (evidence) => {
    first(evidence).skipped = { none: -1 };
  }),
  forged("a negative difference", /EVIDENCE_INVALID .*differences\.5/, (evidence) => {
    run(evidence).differences[5] = -1e-8;
  }),
  forged("a difference of 0.5", /EVIDENCE_INVALID .* differs by 0\.5, more than 0\.000001/, (evidence) => {
    run(evidence).differences[5] = 0.5;
  }),
  forged("no difference anywhere", /no case shows any difference/, (evidence) => {
    run(evidence).differences.fill(0);
  }),
  forged("a missing field", /EVIDENCE_INVALID .*turbo4_score\.plan/, (evidence) => {
    delete first(evidence).plan;
  }),
  forged("a field of its own", /EVIDENCE_INVALID .*emulated-x64\.json: kernels\.turbo4_score/, (evidence) => {
    first(evidence).failed = 0;
  }),
  forged("an unknown kind", /EVIDENCE_INVALID .*emulated-x64\.json: kind/, (evidence) => {
    evidence.kind = "simulated";
  }),
  forged("the graph's kind for all of CUDA", /EVIDENCE_INVALID .*: kind/, (evidence) => {
    evidence.kind = "graph";
  }),
  forged("another backend's folder", /EVIDENCE_MISPLACED .*metal\/emulated-cuda\.json/, () => {}, {
    to: "contract/evidence/metal/emulated-cuda.json",
  }),
  forged("another backend's name", /EVIDENCE_MISPLACED|EVIDENCE_STALE/, (evidence) => {
    evidence.backend = "metal";
  }),
  forged("a configuration left out", /ran at subgroup 32, not subgroup 32, subgroup 64/, (evidence) => {
    first(evidence).runs.pop();
  }),
  forged(
    "a kernel that is not there",
    /EVIDENCE_STALE .*: turbo9_score: the harness has no such kernel/,
    (evidence) => {
      evidence.kernels.turbo9_score = first(evidence);
    },
  ),
  forged("another source's hash", /EVIDENCE_STALE .*turbo4_score: .* has changed/, (evidence) => {
    first(evidence).source.sha256 = "0".repeat(64);
  }),
  forged(
    "another source's path",
    /EVIDENCE_STALE .*turbo4_score: it names kernels\/cuda\/tbq3_score\.cu/,
    (evidence) => {
      first(evidence).source.path = "kernels/cuda/tbq3_score.cu";
    },
  ),
  forged("another harness", /EVIDENCE_STALE .*turbo4_score: the harness has changed/, (evidence) => {
    first(evidence).harness = "0".repeat(64);
  }),
  forged("a day to come", /EVIDENCE_INVALID .*: is of 2999-01-01/, (evidence) => {
    first(evidence).date = "2999-01-01";
  }),
  forged(
    "software as hardware",
    /SOFTWARE_AS_HARDWARE .*llvmpipe\.json/,
    (evidence) => {
      evidence.kind = "hardware";
    },
    { from: SOFTWARE },
  ),
  forged(
    "software as emulation",
    /EVIDENCE_INVALID .*vulkan is never emulated/,
    (evidence) => {
      evidence.kind = "emulated";
    },
    { from: SOFTWARE },
  ),
  forged(
    "no kernels",
    /EVIDENCE_EMPTY .*compiled\.json/,
    (evidence) => {
      evidence.kernels = {};
    },
    { from: COMPILED },
  ),
  {
    change: "evidence without a seal that fits",
    says: /EVIDENCE_INVALID .*does not match its seal/,
    evenIfWrittenAnew: true,
    make: (tree) =>
      changeJson(tree, EMULATED, (evidence) => {
        run(evidence).differences[3] = 0;
      }),
  },
  {
    change: "a file of evidence removed",
    says: /CONTRACT_DIFFERS kernels\.turbo4_score\.backends\.metal\.status[\s\S]*CONTRACT_DIFFERS evidence\./,
    make: (tree) => tree.remove(METAL),
  },
  {
    change: "evidence of an Apple GPU that never ran",
    says: /CONTRACT_DIFFERS kernels\.turbo4_score\.backends\.metal\.status: "emulated" stands there, "hardware"[\s\S]*CONTRACT_DIFFERS evidence\.contract\/evidence\/metal\/apple-m4\.json[\s\S]*README_MATRIX/,
    make: forgeHardware,
  },
  {
    change: "a file that is no evidence",
    says: /EVIDENCE_INVALID .*notes\.txt is no JSON/,
    make: (tree) => tree.write("contract/evidence/notes.txt", "it ran, trust me"),
    evenIfWrittenAnew: true,
  },
  // The README
  {
    change: "the matrix's markers removed",
    says: /README_MATRIX .* markers/,
    make: (tree) => tree.edit("README.md", "<!-- kernel matrix: npm run contract -- --table -->", ""),
    evenIfWrittenAnew: true,
  },
  {
    change: "a second matrix",
    says: /README_MATRIX .* markers/,
    make: (tree) => tree.write("README.md", `${tree.read("README.md")}\n${tree.read("README.md")}`),
    evenIfWrittenAnew: true,
  },
  {
    change: "a cell of the matrix",
    says: /README_MATRIX the matrix in README\.md is not the one/,
    make: (tree) => tree.write("README.md", tree.read("README.md").replace(/e-8 \|/, "e-9 |")),
  },
];

/** What a careful forger writes: emulation's differences under the name of a device that nobody has. */
export function forgeHardware(tree: PlantedTree): void {
  const evidence = JSON.parse(tree.read(METAL)) as Loose;
  evidence.kind = "hardware";
  evidence.device = "Apple M4";
  evidence.driver = "Metal 4";
  for (const [id, entry] of Object.entries<Loose>(evidence.kernels)) {
    entry.runs = [{ ...entry.runs[0], configuration: "subgroup 32" }];
    entry.harness = harnessHash("metal", kernelById(id)!);
  }
  evidence.seal = sealOf(evidence as Evidence);
  tree.write("contract/evidence/metal/apple-m4.json", JSON.stringify(evidence));
}
