/** The wheel that brings a runtime to one kind of machine. */
export interface RuntimeWheel {
  platform: NodeJS.Platform;
  cpu: NodeJS.Architecture;
  /** The wheel's file name. */
  file: string;
  bytes: number;
  sha256: string;
  /** The member that is the runtime's library. */
  library: string;
}

/** A runtime beside llama.cpp that is fetched when it is asked for. */
export interface KnownRuntime {
  name: string;
  title: string;
  version: string;
  licence: { name: string; url: string };
  /** The project of a Python package index that has its wheels. */
  project: string;
  wheels: readonly RuntimeWheel[];
}

export const knownRuntimes: readonly KnownRuntime[] = [
  {
    name: "litert-lm",
    title: "LiteRT-LM",
    version: "0.18.1",
    licence: { name: "Apache-2.0", url: "https://www.apache.org/licenses/LICENSE-2.0" },
    project: "litert-lm-api",
    wheels: [
      {
        platform: "linux",
        cpu: "x64",
        file: "litert_lm_api-0.18.1-py3-none-manylinux_2_27_x86_64.whl",
        bytes: 47_051_755,
        sha256: "b2fe9b9a87afe991a7b0d29615b0bfc3d41c7a0ac28e9c54436676482bca2e5b",
        library: "litert_lm/liblitert-lm.so",
      },
    ],
  },
];

export function findKnownRuntime(name: string): KnownRuntime | undefined {
  return knownRuntimes.find((runtime) => runtime.name === name.toLowerCase());
}
