/** One outside source tree, pinned by what it contains rather than by how it was packed. */
export interface SourcePin {
  name: string;
  version: string;
  /** tried in order; every failure is reported */
  archives: string[];
  /** the same tree inside an npm package, as a git bundle */
  npmMirror: { package: string; version: string; bundle: string; bundleSha256: string };
  /** what is hashed and kept */
  paths: string[];
  /** sha256 over the sorted paths and contents, see hashTree */
  treeSha256: string;
}

export const llamaCpp: SourcePin = {
  name: "llama.cpp",
  version: "v0.5.0",
  archives: ["https://github.com/ggml-org/llama.cpp/archive/refs/tags/v0.5.0.tar.gz"],
  npmMirror: {
    package: "node-llama-cpp",
    version: "3.22.1",
    bundle: "llama/gitRelease.bundle",
    bundleSha256: "5f5d1105d5df040738d87b8290e5d17e7362131cdcfdb0831618e0ea528b4a51",
  },
  paths: ["CMakeLists.txt", "LICENSE", "cmake", "ggml", "include", "src", "vendor"],
  treeSha256: "cb87f4bac761c54b251eef7e612342ee8450ff00d513dfd237e4faeba7d91d6e",
};
