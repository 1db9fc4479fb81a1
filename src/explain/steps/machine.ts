import { errorText } from '../../lib/error-text.ts';
import type { KernelReading } from '../../modes/index.ts';
import type { DetectedCaller } from '../caller-detection.ts';
import type { Topic } from '../explanation.ts';
import type { Facts } from '../facts.ts';
import { type Finding, finding } from '../finding.ts';
import type { Outcome } from '../outcome.ts';
import type { MetFrontend } from '../target.ts';
import { connectedStep } from './connected.ts';
import { connectionsStep } from './connections.ts';
import { listenersStep } from './listeners.ts';
import { otherRulesStep } from './other-rules.ts';
import { probeStep } from './probe.ts';

/** What the machine has beside the proxy's own rules. Nothing here may fail the whole explanation. */
export async function machineSteps(
  met: MetFrontend,
  detected: DetectedCaller,
  outcome: Outcome,
  reading: Promise<KernelReading | undefined>,
  { facts, isProbing }: { readonly facts: Facts; readonly isProbing: boolean },
): Promise<readonly Finding[]> {
  const { kernel } = facts;
  const isNodePort = met.frontend.kind === 'NodePort';
  const steps = await Promise.all([
    kernel && guarded('connections', () => connectionsStep(met, detected, outcome, facts, reading)),
    kernel && guarded('connected', () => connectedStep(met, facts)),
    kernel && guarded('other rules', () => otherRulesStep(met, detected, outcome, facts, reading)),
    kernel && isNodePort && guarded('listeners', () => listenersStep(met, true, outcome, kernel)),
    isProbing && guarded('probe', () => probeStep(met, outcome, kernel)),
  ]);
  return steps.flatMap(step => step || []);
}

export async function guarded(topic: Topic, look: () => Promise<Finding | undefined>): Promise<Finding | undefined> {
  try {
    return await look();
  } catch (error) {
    return finding(topic, 'note', `The proxy could not look at this: ${errorText(error)}.`);
  }
}
