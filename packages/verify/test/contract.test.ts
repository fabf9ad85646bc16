// Everything that may not pass the gate is done once to a copy of the tree, and the gate must say so.
import assert from "node:assert/strict";
import { after, afterEach, test } from "node:test";
import { buildLibraries } from "./kernel-library.ts";
import { PlantedTree } from "./planted-tree.ts";

const tree = new PlantedTree();
after(() => tree[Symbol.dispose]());
afterEach(() => tree.restore());
// The gate of this process reads the copy: the modules learn of it when they are loaded.
process.env.ELIZA_VERIFY_ROOT = tree.root;
const { readGate } = await import("../src/contract/gate.ts");
const { contractText } = await import("../src/contract/contract-file.ts");
const { withMatrix } = await import("../src/contract/matrix.ts");
const { sealOf } = await import("../src/evidence.ts");
const { NO_CC } = await import("./devices-here.ts");
const { ATTACKS, forgeHardware } = await import("./contract-attacks.ts");

const NIBBLE = "values[0] = vf_lookup16(TURBO4_TABLE.centroids, vi_and(pairs, 15));";
const FAULT = "values[0] = vf_lookup16(TURBO4_TABLE.centroids, vi_and(pairs, 7));";

/** What `npm run contract -- --write` does. */
function writeAnew(): void {
  const { contract, matrix } = readGate();
  tree.write("contract/kernel-contract.json", contractText(contract));
  const readme = withMatrix(tree.read("README.md"), matrix);
  if (readme !== undefined) tree.write("README.md", readme);
}

test("the contract holds for this tree, and is what --write makes", () => {
  assert.deepEqual(readGate().faults, []);
  const before = tree.read("contract/kernel-contract.json");
  writeAnew();
  assert.equal(tree.read("contract/kernel-contract.json"), before);
});

test("the command says so, and ends with 1 where it does not hold", () => {
  const whole = tree.run("contract/main.ts");
  assert.equal(whole.stderr, "");
  assert.equal(whole.code, 0);
  assert.match(whole.stdout, /contract: holds, \d+ files of evidence/);
  tree.flip("fixtures/turbo4.json");
  const broken = tree.run("contract/main.ts");
  assert.equal(broken.code, 1);
  assert.match(broken.stderr, /CONTRACT_DIFFERS fixtures\.fixtures\/turbo4\.json/);
  assert.match(broken.stdout, /contract: \d+ faults/);
});

for (const { change, says, make, evenIfWrittenAnew = false } of ATTACKS) {
  test(`the gate catches ${change}${evenIfWrittenAnew ? ", the contract written anew or not" : ""}`, () => {
    make(tree);
    assert.match(readGate().faults.join("\n"), says);
    if (!evenIfWrittenAnew) return;
    writeAnew();
    assert.notDeepEqual(readGate().faults, []);
  });
}

test("hardware that never ran, sealed and written anew, holds: the matrix then names a person and a day", () => {
  forgeHardware(tree);
  writeAnew();
  const { faults, matrix } = readGate();
  assert.deepEqual(faults, []);
  assert.match(matrix, /Metal, Apple M4, as committed by a person on \d{4}-\d{2}-\d{2}/);
});

test("hardware evidence that went stale is no claim and no fault, and the matrix says that it is to be made anew", () => {
  forgeHardware(tree);
  writeAnew();
  const evidence = JSON.parse(tree.read("contract/evidence/metal/apple-m4.json"));
  assert.equal(readGate().contract.kernels[0]!.backends.metal!.status, "hardware");
  for (const entry of Object.values<{ plan: string }>(evidence.kernels)) entry.plan = "0".repeat(64);
  tree.write(
    "contract/evidence/metal/apple-m4.json",
    JSON.stringify({ ...evidence, seal: sealOf(evidence) }),
  );
  writeAnew();
  const { faults, notes, matrix, contract } = readGate();
  assert.deepEqual(faults, []);
  assert.match(notes.join("\n"), /to be made anew: .*apple-m4\.json: turbo4_score: the cases have changed/);
  assert.match(matrix, /to be made anew/);
  assert.equal(contract.kernels[0]!.backends.metal!.status, "emulated");
});

/** Changes of the code that makes and judges evidence; run as the tree's own. */
const CODE_CHANGES = [
  {
    change: "a tolerance of 1e9",
    file: "packages/verify/src/kernel-case.ts",
    from: "SCORE_TOLERANCE = 1e-6",
    to: "SCORE_TOLERANCE = 1e9",
  },
  {
    change: "a decoder of the reference",
    file: "packages/codecs/src/turbo4.ts",
    from: "TURBO4_TABLE.centroids[pair & 15]! * scale",
    to: "TURBO4_TABLE.centroids[pair >> 4]! * scale",
  },
  {
    change: "a case taken out of the plan",
    file: "packages/verify/src/score-cases.ts",
    from: "for (const nKv of [1, 2, 32, 257])",
    to: "for (const nKv of [1, 2, 32])",
  },
  {
    change: "a comparison that sees nothing",
    file: "packages/verify/src/kernel-case.ts",
    from: "if (distance > difference) {",
    to: "if (distance > 1e9) {",
  },
];

test("the gate catches changes of the harness, its tolerances and its reference", () => {
  using own = new PlantedTree();
  own.ownCode();
  const { stderr } = own.run("contract/main.ts");
  assert.equal(stderr, "", "the copy holds before it is changed");
  for (const { change, file, from, to } of CODE_CHANGES) {
    const before = own.read(file);
    own.edit(file, from, to);
    const { code, stderr: said } = own.run("contract/main.ts", ["--write"]);
    assert.equal(code, 1, change);
    assert.match(
      said,
      /EVIDENCE_STALE .*emulated-x64\.json: turbo4_score: the (harness has|cases have) changed/,
      change,
    );
    own.write(file, before);
  }
});

test("a tolerance of 1e9 lets a broken kernel pass, and its evidence is still refused", {
  skip: NO_CC,
}, () => {
  using own = new PlantedTree();
  own.ownCode();
  own.edit("packages/verify/src/kernel-case.ts", "SCORE_TOLERANCE = 1e-6", "SCORE_TOLERANCE = 1e9");
  own.edit("packages/verify/src/kernel-case.ts", "SEED_TOLERANCE = 1e-3", "SEED_TOLERANCE = 1e9");
  own.edit("kernels/cpu/src/scalar_formats.h", NIBBLE, FAULT);
  own.edit("kernels/cpu/flags.txt", "-O3", "-O1"); // compiles in half the time
  own.remove("contract/evidence/cpu");
  const evidence = [
    "--device",
    "cpu",
    "--kernel",
    "turbo4_score",
    "--evidence",
    own.path("contract/evidence"),
  ];
  assert.equal(own.run("main.ts", evidence).code, 0, "the harness lets it pass");
  assert.match(
    own.run("contract/main.ts", ["--write"]).stderr,
    /EVIDENCE_INVALID contract\/evidence\/cpu\/.*: turbo4_score: scalar: «.*» differs by [\d.]+, more than/,
  );
});

test("a library of other sources gives the evidence of its own sources, one that cannot say gives none", {
  skip: NO_CC,
}, () => {
  using own = new PlantedTree();
  own.edit("kernels/cpu/flags.txt", "-O3", "-O1");
  const { vouched, silent } = buildLibraries(own.root, own.path("libraries"));
  own.edit("kernels/cpu/src/scalar_formats.h", NIBBLE, FAULT);
  own.remove("contract/evidence/cpu");
  const run = (library: string) =>
    own.run(
      "main.ts",
      ["--device", "cpu", "--kernel", "turbo4_score", "--evidence", own.path("contract/evidence")],
      {
        ELIZA_KV_LIBRARY: library,
      },
    );
  assert.equal(run(vouched).code, 0, "the honest library passes in the faulty tree");
  assert.match(
    own.run("contract/main.ts", ["--write"]).stderr,
    /EVIDENCE_STALE .*cpu\/.*: turbo4_score: kernels\/cpu has changed/,
  );
  assert.match(
    run(silent).stderr,
    /no evidence of turbo4_score: what was loaded does not say what it was made from/,
  );
});
