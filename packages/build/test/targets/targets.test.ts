import assert from "node:assert/strict";
import { test } from "node:test";
import { findTarget, hostTargets, TARGETS } from "@eliza-inference/build/targets";
import { describeTarget } from "../../src/targets/describe-target.ts";

test("every target is either built by something or says why it is not", () => {
  for (const { id, toolchain, refused, needs } of TARGETS) {
    assert.notEqual(toolchain === undefined, refused === undefined, id);
    assert.ok(needs.length > 0, id);
    assert.equal(TARGETS.filter((other) => other.id === id).length, 1, `${id} stands there twice`);
  }
});

test("an id spells its row's platform, processor, C library and variant", () => {
  const os = { linux: "linux", android: "android", darwin: "darwin", ios: "ios", win32: "windows" };
  for (const { id, platform, cpu, libc, variant } of TARGETS) {
    const parts = [os[platform], cpu, ...(libc === "musl" ? ["musl"] : []), variant];
    assert.equal(id.replace("-simulator", ""), parts.join("-"));
    assert.equal(libc === undefined, platform !== "linux", id);
  }
});

test("a package carries the libraries of one platform; GPU variants have packages of their own", () => {
  assert.equal(findTarget("linux-x64-cpu").package, "@eliza-inference/linux-x64");
  assert.equal(findTarget("linux-x64-musl-cpu").package, "@eliza-inference/linux-x64-musl");
  assert.equal(findTarget("linux-x64-cuda").package, "@eliza-inference/linux-x64-cuda");
  assert.equal(findTarget("darwin-arm64-metal").package, findTarget("darwin-arm64-cpu").package);
  const owners = new Map<string, string>();
  for (const { package: name, platform, cpu, libc } of TARGETS) {
    const place = `${platform} ${cpu} ${libc}`;
    assert.equal(owners.get(name) ?? place, place, `${name} is for two kinds of machines`);
    owners.set(name, place);
  }
});

test("elizaOS's names of targets mean ours", () => {
  const names = {
    "linux-x64-cpu": "linux-x64-cpu",
    "linux-x64-cuda-fused": "linux-x64-cuda",
    "linux-aarch64-cuda-fused": "linux-arm64-cuda",
    "ios-arm64-metal-fused": "ios-arm64-metal",
    "ios-arm64-simulator-metal": "ios-arm64-simulator-metal",
    "android-x86_64-vulkan-fused": "android-x64-vulkan",
    "windows-x64-vulkan": "windows-x64-vulkan",
    "windows-arm64": "windows-arm64-cpu",
    "darwin-arm64-metal": "darwin-arm64-metal",
  };
  for (const [name, id] of Object.entries(names)) assert.equal(findTarget(name).id, id);
  assert.throws(() => findTarget("linux-x64-rocm"), { code: "TARGET_UNKNOWN", hint: /linux-x64-cuda/ });
});

test("the machine that runs this finds the rows that it can load", () => {
  const ids = (platform: string, cpu: string, libc?: "glibc" | "musl") =>
    hostTargets({ platform, cpu, libc }).map(({ id }) => id);
  assert.deepEqual(ids("linux", "x64", "musl"), ["linux-x64-musl-cpu"]);
  assert.deepEqual(ids("win32", "arm64"), ["windows-arm64-cpu", "windows-arm64-vulkan"]);
  assert.deepEqual(ids("aix", "ppc64"), []);
  assert.ok(
    hostTargets().every(({ platform, cpu }) => platform === process.platform && cpu === process.arch),
  );
});

test("a row as people read it says what makes the target, or why nothing does, and never more than was shown", () => {
  const built = describeTarget(findTarget("linux-arm64"));
  assert.match(built, /^linux-arm64-cpu\n/);
  assert.match(built, /built +on a machine of its kind: npm run build:native/);
  assert.match(built, /shown +kernels alone, emulated by qemu-user/);
  const refused = describeTarget(findTarget("ios-arm64-metal-fused"));
  assert.match(refused, /not built +.*Apple's SDK/);
  assert.match(refused, /shown +nothing/);
  assert.doesNotMatch(refused, /build:native/);
});
