import { type DetectedCaller, detectCaller } from '../caller-detection.ts';
import { connectionOutcome } from '../connection-outcome.ts';
import type { Facts } from '../facts.ts';
import type { Finding } from '../finding.ts';
import type { Outcome } from '../outcome.ts';
import type { OperatorQuestion } from '../question.ts';
import type { MetFrontend } from '../target.ts';
import { callerStep, unknownCallerStep } from './caller.ts';
import { endpointsStep } from './endpoints.ts';
import { kernelSteps } from './kernel.ts';
import { machineSteps } from './machine.ts';
import { pathStep } from './path.ts';
import { socketsStep } from './sockets.ts';

export interface FrontendFindings {
  readonly findings: readonly Finding[];
  /** Both are undefined if the caller is unknown. */
  readonly detected?: DetectedCaller;
  readonly outcome?: Outcome;
}

/** Everything about a connection to a frontend, from its caller on. */
export async function frontendFindings(
  met: MetFrontend,
  question: OperatorQuestion,
  facts: Facts,
): Promise<FrontendFindings> {
  const { frontend, family, ip } = met;
  const detected = await detectCaller(question.from, family, { ip, kind: frontend.kind }, facts);
  if (detected.kind === 'unknown') return { findings: [unknownCallerStep(detected)] };
  const outcome = connectionOutcome(met, detected, facts);
  // All of these are of one moment. The Service may change while the kernel is read.
  const planned = [
    callerStep(detected, met, facts),
    await endpointsStep(met, outcome, facts),
    ...socketsStep(met, detected, facts),
    pathStep(outcome, met, detected, facts),
  ];
  // Some modes start programs to read the kernel, so all of this runs at the same time.
  const read = kernelSteps(met, facts);
  const reading = read.then(
    ({ reading: found }) => found,
    () => undefined,
  );
  const [kernel, machine] = await Promise.all([
    read,
    machineSteps(met, detected, outcome, reading, { facts, isProbing: question.probe }),
  ]);
  const findings = [...planned, ...kernel.findings, ...machine];
  return { findings, detected, outcome };
}
