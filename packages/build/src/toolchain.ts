import { execFile } from "node:child_process";
import { realpath, stat } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { BuildError } from "./errors.ts";

const run = promisify(execFile);

export interface Tool {
  name: string;
  command: string;
  version: string;
  /** the program's file, its size and time: the same ones mean the same version */
  file: string;
}

/** What builds the library, and the packages that bring it, by package manager. */
const NEEDED: { name: string; commands: () => string[]; packages: Record<PackageManager, string> }[] = [
  {
    name: "C compiler",
    commands: () => [process.env.CC ?? "", "cc", "gcc", "clang"],
    packages: { apt: "gcc", dnf: "gcc", pacman: "gcc", apk: "build-base", brew: "" },
  },
  {
    name: "C++ compiler",
    commands: () => [process.env.CXX ?? "", "c++", "g++", "clang++"],
    packages: { apt: "g++", dnf: "gcc-c++", pacman: "gcc", apk: "build-base", brew: "" },
  },
  {
    name: "cmake",
    commands: () => ["cmake"],
    packages: { apt: "cmake", dnf: "cmake", pacman: "cmake", apk: "cmake", brew: "cmake" },
  },
  {
    name: "ninja",
    commands: () => ["ninja", "ninja-build"],
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

/** Path, size and time of a program's file as PATH finds it, or undefined. */
async function toolFile(command: string): Promise<string | undefined> {
  const suffixes = process.platform === "win32" ? ["", ".exe", ".cmd"] : [""];
  for (const folder of /[\\/]/.test(command) ? [""] : (process.env.PATH ?? "").split(delimiter)) {
    for (const suffix of suffixes) {
      try {
        const path = await realpath(join(folder, command + suffix));
        const { size, mtimeMs } = await stat(path);
        return `${path} ${size} ${mtimeMs}`;
      } catch {} // not in this folder
    }
  }
  return undefined;
}

/** Whether what PATH finds now are the files of these tools, or nothing: what is gone has not changed. Runs none. */
export async function unchangedTools(tools: readonly Tool[]): Promise<boolean> {
  const same = tools.map(async ({ name, file }) => {
    const commands = NEEDED.find((needed) => needed.name === name)?.commands() ?? [];
    for (const command of commands.filter(Boolean)) {
      const found = await toolFile(command);
      if (found !== undefined) return found === file;
    }
    return true;
  });
  return (await Promise.all(same)).every(Boolean);
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
    for (const command of commands().filter(Boolean)) {
      const text = await version(command);
      if (text !== undefined) {
        found = { name, command, version: text, file: (await toolFile(command)) ?? "" };
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
