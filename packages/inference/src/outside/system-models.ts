import { release } from "node:os";
import { InferenceError } from "../errors.ts";
import type { OutsideAdapter, OutsideModel, OutsideVerdict } from "./outside-model.ts";

/** What of the machine decides; tests give another one. */
export interface Machine {
  platform: string;
  arch: string;
  /** the kernel's version, such as 25.0.0 */
  release: string;
}

const here: Machine = { platform: process.platform, arch: process.arch, release: release() };

function systemModel(
  name: string,
  judge: (machine: Machine) => string,
  machine: Machine,
): OutsideAdapter<object> {
  const detect = (): OutsideVerdict => ({ available: false, reason: judge(machine) });
  return {
    name,
    detect,
    open: async (): Promise<OutsideModel> => {
      throw new InferenceError(
        "BACKEND_UNAVAILABLE",
        `${name}: ${detect().reason}`,
        "Open a model of your own.",
      );
    },
  };
}

/** The system's model of macOS and iOS 26. It is detected and refused: no bridge to it is in this package. */
export function appleFoundationModels(machine: Machine = here): OutsideAdapter<object> {
  return systemModel(
    "apple-foundation-models",
    ({ platform, arch, release: version }) => {
      if (platform !== "darwin" && platform !== "ios")
        return `it is a part of Apple's systems, this is ${platform}`;
      if (arch !== "arm64") return "it needs Apple silicon";
      // Darwin 25 is macOS 26.
      if (Number.parseInt(version, 10) < 25) return `it needs macOS 26, this is Darwin ${version}`;
      return "this system may have it, and this package has no bridge to it";
    },
    machine,
  );
}

/** Android's own model. It is detected and refused: no bridge to it is in this package. */
export function androidAiCore(machine: Machine = here): OutsideAdapter<object> {
  return systemModel(
    "android-aicore",
    ({ platform }) =>
      platform === "android"
        ? "this system may have it, and this package has no bridge to its service"
        : `it is a service of Android, this is ${platform}`,
    machine,
  );
}
