import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { BuildError } from "./errors.ts";

const run = promisify(execFile);

export interface Tool {
  name: string;
  command: string;
  version: string;
}

/** What builds the library, and the packages that bring it, by package manager. */
const NEEDED: { name: string; commands: string[]; packages: Record<PackageManager, string> }[] = [
  {
    name: "C compiler",
    commands: [process.env.CC ?? "", "cc", "gcc", "clang"],
    packages: { apt: "gcc", dnf: "gcc", pacman: "gcc", apk: "build-base", brew: "" },
  },
  {
    name: "C++ compiler",
    commands: [process.env.CXX ?? "", "c++", "g++", "clang++"],
    packages: { apt: "g++", dnf: "gcc-c++", pacman: "gcc", apk: "build-base", brew: "" },
  },
  {
    name: "cmake",
    commands: ["cmake"],
    packages: { apt: "cmake", dnf: "cmake", pacman: "cmake", apk: "cmake", brew: "cmake" },
  },
  {
    name: "ninja",
    commands: ["ninja", "ninja-build"],
    packages: { apt: "ninja-build", dnf: "ninja-build", pacman: "ninja", apk: "samurai", brew: "ninja" },
  },
];

type PackageManager = "apt" | "dnf" | "pacman" | "apk" | "brew";
const INSTALL: Record<PackageManager, string> = {
  apt: "apt-get install -y",
  dnf: "dnf install -y",
  pacman: "pacman -S --noconfirm",
  apk: "apk add",
  brew: "brew install",
};

async function version(command: string): Promise<string | undefined> {
  try {
    const { stdout } = await run(command, ["--version"], { timeout: 20_000 });
    return stdout.split("\n")[0] ?? "";
  } catch {
    return undefined;
  }
}

async function packageManager(): Promise<PackageManager> {
  for (const manager of ["apt", "dnf", "pacman", "apk", "brew"] as const) {
    const probe = manager === "apt" ? "apt-get" : manager;
    if (await version(probe)) return manager;
  }
  return "apt";
}

/** Looks for everything the build needs. What is missing comes with the line that installs it. */
export async function findTools(): Promise<{ tools: Tool[]; missing: { name: string; install: string }[] }> {
  const tools: Tool[] = [];
  const missing: { name: string; install: string }[] = [];
  for (const { name, commands, packages } of NEEDED) {
    let found: Tool | undefined;
    for (const command of commands.filter(Boolean)) {
      const text = await version(command);
      if (text !== undefined) {
        found = { name, command, version: text };
        break;
      }
    }
    if (found) {
      tools.push(found);
    } else {
      const manager = await packageManager();
      const install = packages[manager]
        ? `${INSTALL[manager]} ${packages[manager]}`
        : "xcode-select --install";
      missing.push({ name, install });
    }
  }
  return { tools, missing };
}

/** The tools by name; throws TOOL_MISSING, which names each absent one and how to install it. */
export async function requireTools(): Promise<Map<string, Tool>> {
  const { tools, missing } = await findTools();
  if (missing.length > 0) {
    throw new BuildError(
      "TOOL_MISSING",
      `the native library cannot be built: ${missing.map((tool) => tool.name).join(", ")} not found`,
      missing.map((tool) => `${tool.name}: ${tool.install}`).join("; "),
    );
  }
  return new Map(tools.map((tool) => [tool.name, tool]));
}
