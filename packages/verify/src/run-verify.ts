import { parseArgs } from "node:util";
import { compileOnly } from "./compile-only.ts";
import { DEVICE_NAMES, type DeviceName } from "./device.ts";
import { VerifyError } from "./errors.ts";
import { writeEvidence } from "./evidence.ts";
import { KERNELS } from "./kernels.ts";
import { kernelsNamed } from "./plan.ts";
import { reportText } from "./report-table.ts";
import { type VerifyOptions, type VerifyReport, verify } from "./verify.ts";

export const VERIFY_USAGE = `eliza-inference verify: holds the KV-cache kernels against the reference on this machine's devices

  --device NAME     one of ${DEVICE_NAMES.join(", ")}; may be repeated; all by default
  --kernel NAME     a kernel, or all of a format ("turbo4"); may be repeated; all by default
  --hardware        fail unless every device asked for is real hardware
  --case TEXT       only the cases whose name holds TEXT
  --short           leave out the cases of thousands of rows
  --compile         only give the sources to the backends' compilers that are here; run nothing
  --evidence DIR    write what was shown to DIR/<backend>/<device>.json
  --json            print the report as JSON
`;

interface Choices extends VerifyOptions {
  readonly compile: boolean;
  readonly hardware: boolean;
  readonly json: boolean;
  readonly evidence: string | undefined;
}

function choices(args: readonly string[]): Choices | undefined {
  const { values } = parseArgs({
    args: [...args],
    options: {
      device: { type: "string", multiple: true },
      kernel: { type: "string", multiple: true },
      case: { type: "string" },
      hardware: { type: "boolean", default: false },
      short: { type: "boolean", default: false },
      compile: { type: "boolean", default: false },
      evidence: { type: "string" },
      json: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return undefined;
  for (const device of values.device ?? []) {
    if ((DEVICE_NAMES as readonly string[]).includes(device)) continue;
    throw new VerifyError("ARGUMENT_INVALID", `no device ${device}`, `there are ${DEVICE_NAMES.join(", ")}`);
  }
  for (const kernel of values.kernel ?? []) {
    if (kernelsNamed([kernel]).length > 0) continue;
    throw new VerifyError(
      "ARGUMENT_INVALID",
      `no kernel ${kernel}`,
      `there are ${KERNELS.map(({ id }) => id).join(", ")}`,
    );
  }
  const part = values.short ? "--short" : values.case === undefined ? undefined : "--case";
  if (part && values.evidence !== undefined) {
    throw new VerifyError(
      "ARGUMENT_INVALID",
      `${part} gives no evidence`,
      `leave one of ${part} and --evidence out`,
    );
  }
  return {
    ...(values.device ? { devices: values.device as DeviceName[] } : {}),
    ...(values.kernel ? { kernels: values.kernel } : {}),
    short: values.short,
    ...(values.case === undefined ? {} : { only: values.case }),
    compile: values.compile,
    hardware: values.hardware,
    json: values.json,
    evidence: values.evidence,
  };
}

/** JSON has no Infinity: a difference that is no number becomes null. */
function reportJson(report: VerifyReport): string {
  return JSON.stringify(report, (_, value) => (value === Number.POSITIVE_INFINITY ? null : value), 2);
}

/** Devices that `--hardware` does not let pass. */
function notHardware(report: VerifyReport): string[] {
  return report.devices
    .filter(({ description }) => description?.kind !== "hardware")
    .map(({ device, description, unavailable }) =>
      description
        ? `${device}: ${description.model} is ${description.kind}, not hardware`
        : `${device}: ${unavailable?.message}`,
    );
}

function compileReport(kernels: readonly string[] | undefined): VerifyReport {
  const devices = compileOnly(kernelsNamed(kernels));
  const verdicts = devices.flatMap((device) => device.kernels);
  return { devices, passed: verdicts.length > 0 && verdicts.every(({ failures }) => failures.length === 0) };
}

/**
 * `eliza-inference verify`.
 * @returns the exit code: 0 if everything that ran passed, 1 if not, 2 for wrong arguments
 */
export async function runVerify(
  args: readonly string[],
  print: (line: string) => void = console.log,
): Promise<number> {
  let chosen: Choices | undefined;
  try {
    chosen = choices(args);
  } catch (error) {
    const hint = error instanceof VerifyError ? `\n${error.hint}` : "";
    console.error(`${(error as Error).message}${hint}`);
    return 2;
  }
  if (!chosen) {
    print(VERIFY_USAGE);
    return 0;
  }
  const { evidence, json, hardware } = chosen;
  const report = chosen.compile
    ? compileReport(chosen.kernels)
    : await verify({ ...chosen, onProgress: (line) => console.error(line) });
  print(json ? reportJson(report) : reportText(report));
  if (evidence !== undefined) {
    for (const device of report.devices) {
      const written = writeEvidence(evidence, device);
      if (!written) continue;
      console.error(`wrote ${written.path}`);
      for (const { kernel, reason } of written.without) console.error(`no evidence of ${kernel}: ${reason}`);
    }
  }
  const soft = hardware ? notHardware(report) : [];
  for (const line of soft) console.error(`not hardware: ${line}`);
  return report.passed && soft.length === 0 ? 0 : 1;
}
