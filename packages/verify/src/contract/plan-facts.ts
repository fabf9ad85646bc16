import type { KernelEntry } from "../device.ts";
import type { PlannedCase } from "../kernel-case.ts";
import { fixturesHash, planHash, planOf } from "../plan.ts";

/** What a kernel's evidence is held against. */
interface KernelPlan {
  readonly plan: readonly PlannedCase[];
  readonly planHash: string;
  readonly fixturesHash: string;
}

export type PlanFacts = (kernel: KernelEntry) => KernelPlan;

/** No cases where a fixture that the plan reads is no JSON: that the fixture is another one, the contract itself says. */
function readablePlan(kernel: KernelEntry): readonly PlannedCase[] {
  try {
    return planOf(kernel, false);
  } catch (error) {
    if (error instanceof SyntaxError) return [];
    throw error;
  }
}

/** Plans of the tree as it is now, each made once. */
export function planFacts(): PlanFacts {
  const known = new Map<string, KernelPlan>();
  return (kernel) => {
    const before = known.get(kernel.id);
    if (before) return before;
    const plan = readablePlan(kernel);
    const facts = { plan, planHash: planHash(plan), fixturesHash: fixturesHash(plan) };
    known.set(kernel.id, facts);
    return facts;
  };
}
