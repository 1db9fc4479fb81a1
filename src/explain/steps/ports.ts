import { joinHostPort } from '../../net/index.ts';
import { planName } from '../../plan/index.ts';
import type { Facts } from '../facts.ts';
import { counted, type Finding, finding } from '../finding.ts';
import type { Outcome } from '../outcome.ts';
import type { OperatorQuestion } from '../question.ts';
import { isFinding, type MetFrontend } from '../target.ts';
import { frontendFindings } from './frontend.ts';

/** A Service may have hundreds of ports, and each costs a reading of the kernel. */
const MAX_MS = 5000;

/** One short step for each port of a Service, with the verdict that a question about this port alone has. */
export async function portSteps(
  ports: readonly (MetFrontend | Finding)[],
  question: OperatorQuestion,
  facts: Facts,
): Promise<readonly Finding[]> {
  const steps: Finding[] = [];
  const end = performance.now() + MAX_MS;
  for (const port of ports) {
    if (isFinding(port)) steps.push(port);
    else steps.push(performance.now() > end ? unseenStep(port) : await portStep(port, question, facts));
  }
  return steps;
}

async function portStep(met: MetFrontend, question: OperatorQuestion, facts: Facts): Promise<Finding> {
  const { findings, outcome } = await frontendFindings(met, question, facts);
  const bad = findings.find(({ verdict }) => verdict === 'bad');
  const reason = bad ?? findings.find(({ verdict }) => verdict === 'unknown');
  const data = { port: met.plan.port.name, address: addressOf(met), protocol: met.protocol, outcome };
  if (outcome?.kind === 'answered' && !reason) {
    const { length } = outcome.endpoints;
    const by = length === 1 ? 'one endpoint' : `one of ${counted(length, 'endpoint')}`;
    return finding('port', 'good', `${nameOf(met)} is answered by ${by}.`, { data });
  }
  const why = reason?.summary ?? reason?.text ?? 'The proxy does not know enough.';
  const next = reason?.next ?? findings.find(({ verdict, next: each }) => verdict === reason?.verdict && each)?.next;
  const text = `${nameOf(met)} ${bad ? badWord(outcome) : 'may not be answered'}: ${why}`;
  return finding('port', bad ? 'bad' : 'unknown', text, { data, next });
}

function badWord(outcome: Outcome | undefined): string {
  if (outcome?.kind === 'answered') return 'does not work';
  return outcome?.kind === 'refused' ? 'is refused' : 'is not answered';
}

function unseenStep(met: MetFrontend): Finding {
  const text = `${nameOf(met)} is not checked, because the ports before it took too long.`;
  return finding('port', 'unknown', text, {
    next: { text: 'ask for one port', command: `kube-proxy explain ${addressOf(met)}/${met.protocol.toLowerCase()}` },
  });
}

function nameOf(met: MetFrontend): string {
  return `${planName(met.plan)} at ${addressOf(met)}/${met.protocol}`;
}

function addressOf({ ip, port }: MetFrontend): string {
  return joinHostPort(ip, port);
}
