// Every rule of the contract is broken once in a copy of the tree, and the gate must catch it.
import assert from "node:assert/strict";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import type { Contract } from "../src/contract/contract-file.ts";
import { MATRIX_BEGIN, MATRIX_END } from "../src/contract/matrix.ts";
import { type Evidence, sealOf } from "../src/evidence.ts";
import { PlantedTree } from "./planted-tree.ts";

const CONTRACT = "contract/kernel-contract.json";
const EMULATED = "contract/evidence/cuda/emulated-x64.json";
const SOFTWARE = "contract/evidence/vulkan/llvmpipe.json";

type Json<T> = { -readonly [K in keyof T]: Json<T[K]> };

function change<T>(tree: PlantedTree, file: string, work: (value: Json<T>) => void): void {
  const value = JSON.parse(readFileSync(tree.path(file), "utf8")) as Json<T>;
  work(value);
  writeFileSync(tree.path(file), JSON.stringify(value));
}

/** Changes evidence as `verify` would have written it, with a seal that fits. */
function forge(tree: PlantedTree, file: string, work: (evidence: Json<Evidence>) => void): void {
  change<Evidence>(tree, file, (evidence) => {
    work(evidence);
    evidence.seal = sealOf(evidence as Evidence);
  });
}

function kernelRow(contract: Json<Contract>, id: string): Json<Contract["kernels"][number]> {
  return contract.kernels.find((kernel) => kernel.id === id)!;
}

interface Breach {
  readonly rule: string;
  readonly says: RegExp;
  readonly breach: (tree: PlantedTree) => void;
}

const BREACHES: readonly Breach[] = [
  {
    rule: "a source that is not there",
    says: /SOURCE_MISSING turbo4_score on metal/,
    breach: (tree) => rmSync(tree.path("kernels/metal/turbo4_score.metal")),
  },
  {
    rule: "an entry point that its source does not name",
    says: /SYMBOL_MISSING tbq3_score on cuda/,
    breach: (tree) =>
      change<Contract>(tree, CONTRACT, (contract) => {
        kernelRow(contract, "tbq3_score").backends.cuda!.symbol = "eliza_tbq3_dot";
      }),
  },
  {
    rule: "a fixture that is not there",
    says: /FIXTURE_MISSING turbo4_score: fixtures\/turbo4\.json/,
    breach: (tree) => {
      tree.ownFixtures();
      rmSync(tree.path("fixtures/turbo4.json"));
    },
  },
  {
    rule: "an empty fixture",
    says: /FIXTURE_EMPTY turbo3_score: fixtures\/turbo3\.json/,
    breach: (tree) => {
      tree.ownFixtures();
      writeFileSync(tree.path("fixtures/turbo3.json"), "");
    },
  },
  {
    rule: "a changed fixture",
    says: /FIXTURE_CHANGED turbo4_score: fixtures\/turbo4\.json has sha256/,
    breach: (tree) => {
      tree.ownFixtures();
      const path = tree.path("fixtures/turbo4.json");
      writeFileSync(path, `${readFileSync(path, "utf8")} `);
    },
  },
  {
    rule: "a status that no evidence bears out",
    says: /STATUS_WITHOUT_EVIDENCE polar_score on metal: «hardware» stands there, «emulated» is shown/,
    breach: (tree) =>
      change<Contract>(tree, CONTRACT, (contract) => {
        kernelRow(contract, "polar_score").backends.metal!.status = "hardware";
      }),
  },
  {
    rule: "runtime-ready without evidence from the graph",
    says: /STATUS_WITHOUT_EVIDENCE turbo4_score on vulkan: «runtime-ready»/,
    breach: (tree) =>
      change<Contract>(tree, CONTRACT, (contract) => {
        kernelRow(contract, "turbo4_score").backends.vulkan!.status = "runtime-ready";
      }),
  },
  {
    rule: "a status behind what is shown",
    says: /STATUS_BEHIND turbo4_score on metal: «authored» stands there, «emulated» is shown/,
    breach: (tree) =>
      change<Contract>(tree, CONTRACT, (contract) => {
        kernelRow(contract, "turbo4_score").backends.metal!.status = "authored";
      }),
  },
  {
    rule: "evidence for a source that has changed",
    says: /EVIDENCE_STALE contract\/evidence\/cuda\/emulated-x64\.json: turbo4_score: .* has changed/,
    breach: (tree) => tree.edit("kernels/cuda/turbo4_score.cu", "// turbo4:", "// Turbo4:"),
  },
  {
    rule: "evidence for a header that has changed",
    says: /EVIDENCE_STALE contract\/evidence\/vulkan\/llvmpipe\.json: qjl_score: .* has changed/,
    breach: (tree) => tree.edit("kernels/vulkan/score.glsl", "// One workgroup", "// A workgroup"),
  },
  {
    rule: "evidence made with other formats",
    says: /EVIDENCE_STALE .*: polar_score: the formats have changed/,
    breach: (tree) =>
      forge(tree, EMULATED, (evidence) => {
        evidence.kernels.polar_score!.formats = "0".repeat(64);
      }),
  },
  {
    rule: "evidence of a failure",
    says: /EVIDENCE_FAILED .*emulated-x64\.json: turbo3_score: 2 of/,
    breach: (tree) =>
      forge(tree, EMULATED, (evidence) => {
        evidence.kernels.turbo3_score!.failed = 2;
      }),
  },
  {
    rule: "evidence edited by hand",
    says: /EVIDENCE_INVALID .*does not match its seal/,
    breach: (tree) =>
      change<Evidence>(tree, EMULATED, (evidence) => {
        evidence.kernels.turbo3_score!.maxDifference = 0;
      }),
  },
  {
    rule: "software passed off as hardware",
    says: /SOFTWARE_AS_HARDWARE .*llvmpipe\.json[\s\S]*STATUS_WITHOUT_EVIDENCE turbo4_score on vulkan/,
    breach: (tree) => {
      forge(tree, SOFTWARE, (evidence) => {
        evidence.kind = "hardware";
      });
      change<Contract>(tree, CONTRACT, (contract) => {
        kernelRow(contract, "turbo4_score").backends.vulkan!.status = "hardware";
      });
      // Hardware that is there in truth would earn the status: what is left is the forgery.
      for (const name of readdirSync(tree.path("contract/evidence/vulkan"))) {
        if (name !== "llvmpipe.json") rmSync(tree.path(`contract/evidence/vulkan/${name}`));
      }
    },
  },
  {
    rule: "a target without a row",
    says: /TARGET_WITHOUT_ROW darwin-arm64-metal/,
    breach: (tree) =>
      change<Contract>(tree, CONTRACT, (contract) => {
        contract.targets = contract.targets.filter(({ id }) => id !== "darwin-arm64-metal");
      }),
  },
  {
    rule: "a kernel without a row",
    says: /KERNEL_WITHOUT_ROW qjl_get_rows/,
    breach: (tree) =>
      change<Contract>(tree, CONTRACT, (contract) => {
        contract.kernels = contract.kernels.filter(({ id }) => id !== "qjl_get_rows");
      }),
  },
  {
    rule: "a capability that no kernel gives",
    says: /CAPABILITY_WITHOUT_KERNEL mtp/,
    breach: (tree) =>
      change<Contract>(tree, CONTRACT, (contract) => {
        contract.capabilities.push("mtp");
      }),
  },
  {
    rule: "a status outside the schema",
    says: /SCHEMA kernels\[0\]\.backends\.\w+\.status is "verified", not one of authored/,
    breach: (tree) =>
      change<Contract>(tree, CONTRACT, (contract) => {
        (contract.kernels[0]!.backends.cuda as { status: string }).status = "verified";
      }),
  },
  {
    rule: "a target whose need is not told",
    says: /SCHEMA targets\[0\]\.needs has 3 characters/,
    breach: (tree) =>
      change<Contract>(tree, CONTRACT, (contract) => {
        contract.targets[0]!.needs = "TBD";
      }),
  },
  {
    rule: "a README whose matrix is not the evidence's",
    says: /README_MATRIX/,
    breach: (tree) => {
      writeFileSync(tree.path("README.md"), `${MATRIX_BEGIN}\n| kernel |\n${MATRIX_END}\n`);
    },
  },
];

function gate(tree: PlantedTree) {
  return tree.run("packages/verify/src/contract/main.ts");
}

test("the contract holds for this tree", () => {
  using tree = new PlantedTree();
  const { code, stderr } = gate(tree);
  assert.equal(stderr, "");
  assert.equal(code, 0);
});

for (const { rule, says, breach } of BREACHES) {
  test(`the gate catches ${rule}`, () => {
    using tree = new PlantedTree();
    breach(tree);
    const { code, stderr } = gate(tree);
    assert.match(stderr, says);
    assert.equal(code, 1);
  });
}

test("a contract written anew from the evidence holds", () => {
  using tree = new PlantedTree();
  writeFileSync(tree.path(CONTRACT), "{}");
  writeFileSync(tree.path("README.md"), `# R\n${MATRIX_BEGIN}\n${MATRIX_END}\n`);
  assert.equal(tree.run("packages/verify/src/contract/main.ts", "--write").code, 0);
  assert.match(readFileSync(tree.path("README.md"), "utf8"), /\| `turbo4_score` \| /);
  assert.equal(gate(tree).code, 0);
});
