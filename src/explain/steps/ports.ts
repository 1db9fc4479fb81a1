import { joinHostPort } from '../../net/index.ts';
import { planName } from '../../plan/index.ts';
import { detectCaller } from '../caller-detection.ts';
import { connectionOutcome } from '../connection-outcome.ts';
import type { Facts } from '../facts.ts';
import { counted, type Finding, finding } from '../finding.ts';
import type { OperatorQuestion } from '../question.ts';
import { isFinding, type MetFrontend } from '../target.ts';
import { unknownCallerStep } from './caller.ts';
import { endpointsStep } from './endpoints.ts';

/** One short step for each port of a Service. */
export async function portSteps(
  ports: readonly (MetFrontend | Finding)[],
  question: OperatorQuestion,
  facts: Facts,
): Promise<readonly Finding[]> {
  const steps: Finding[] = [];
  for (const port of ports) steps.push(isFinding(port) ? port : await portStep(port, question, facts));
  return steps;
}

async function portStep(met: MetFrontend, { from }: OperatorQuestion, facts: Facts): Promise<Finding> {
  const { plan, family, frontend, ip, port, protocol } = met;
  const detected = await detectCaller(from, family, { ip, kind: frontend.kind }, facts);
  if (detected.kind === 'unknown') return unknownCallerStep(detected);
  const outcome = connectionOutcome(met, detected, facts);
  const at = `${planName(plan)} at ${joinHostPort(ip, port)}/${protocol}`;
  const data = { port: plan.port.name, address: joinHostPort(ip, port), protocol, outcome };
  if (outcome.kind === 'answered') {
    const { length } = outcome.endpoints;
    const text = `${at} is answered by ${length === 1 ? 'one endpoint' : `one of ${counted(length, 'endpoint')}`}.`;
    return finding('port', 'good', text, { data });
  }
  const why = await endpointsStep(met, outcome, facts);
  const reason = why.verdict === 'bad' ? why.text : `${outcome.reason}.`;
  const word = outcome.kind === 'refused' ? 'is refused' : 'is not answered';
  return finding('port', 'bad', `${at} ${word}: ${reason}`, { data, next: why.next });
}
