import { joinHostPort } from '../net/index.ts';
import { type DetectedCaller, detectCaller } from './caller-detection.ts';
import { connectionOutcome } from './connection-outcome.ts';
import {
  EXPLANATION_SCHEMA,
  type ExplainedCaller,
  type ExplainedTarget,
  type Explanation,
  type ExplanationOrigin,
  type NextStep,
} from './explanation.ts';
import { type Facts, fixedFacts } from './facts.ts';
import type { Finding } from './finding.ts';
import { mentionedAddress } from './near-misses/address.ts';
import type { Outcome } from './outcome.ts';
import { type OperatorQuestion, questionTexts, textOfTarget } from './question.ts';
import { callerName, callerStep, unknownCallerStep } from './steps/caller.ts';
import { frontendFindings } from './steps/frontend.ts';
import { knowledgeStep } from './steps/knowledge.ts';
import { listenersStep } from './steps/listeners.ts';
import { guarded } from './steps/machine.ts';
import { pathStep } from './steps/path.ts';
import { portSteps } from './steps/ports.ts';
import { serviceStep } from './steps/service.ts';
import { type MetFrontend, type Resolved, resolveTarget } from './target.ts';
import { judge } from './verdict.ts';

/** Says what a connection gets and why: one step for each thing that was looked at, and one verdict. */
export async function explain(question: OperatorQuestion, changing: Facts): Promise<Explanation> {
  const facts = fixedFacts(changing);
  const resolved = await resolveTarget(question, facts);
  switch (resolved.kind) {
    case 'frontend':
      return await explainFrontend(resolved.met, question, facts);
    case 'ports':
      return await explainPorts(resolved, question, facts);
    case 'none':
      return await explainNone(resolved, question, facts);
  }
}

async function explainFrontend(met: MetFrontend, question: OperatorQuestion, facts: Facts): Promise<Explanation> {
  const before = [knowledgeStep(facts, met.plan.service), serviceStep(met, facts)];
  const { findings, ...rest } = await frontendFindings(met, question, facts);
  return finish([...before, ...findings], { question, facts, target: targetOf(met), ...rest });
}

async function explainPorts(
  { service, ports }: Extract<Resolved, { kind: 'ports' }>,
  question: OperatorQuestion,
  facts: Facts,
): Promise<Explanation> {
  const steps = await portSteps(ports, question, facts);
  const findings = [knowledgeStep(facts, service), ...steps];
  const isGood = steps.every(({ verdict }) => verdict === 'good');
  const made = finish(findings, { question, facts });
  if (!isGood || made.verdict === 'broken') return made;
  const isSure = findings.every(({ verdict }) => verdict !== 'unknown');
  const summary = `All ${ports.length} ports of ${service} are answered.`;
  const first = `kube-proxy explain ${service}:${portWord(ports[0])}`;
  const next = { text: 'ask for one port to see every step', command: first };
  return isSure ? { ...made, verdict: 'works', summary, next } : { ...made, next };
}

function portWord(port: MetFrontend | Finding | undefined): string {
  return port && 'plan' in port ? port.plan.port.name || String(port.plan.port.port) : 'PORT';
}

async function explainNone(
  { finding, service, destination, use }: Extract<Resolved, { kind: 'none' }>,
  question: OperatorQuestion,
  facts: Facts,
): Promise<Explanation> {
  const knowledge = knowledgeStep(facts, service);
  const before = [knowledge, finding];
  if (!destination) return finish(before, { question, facts });
  const family = destination.ip.includes(':') ? 'IPv6' : 'IPv4';
  const detected = await detectCaller(question.from, family, destination, facts);
  if (detected.kind === 'unknown') return finish([...before, unknownCallerStep(detected)], { question, facts });
  const outcome = connectionOutcome({ ...destination, family }, detected, facts, use);
  const known = mentionedAddress(outcome) ?? finding;
  const { kernel } = facts;
  const isHere = outcome.kind === 'elsewhere' && outcome.at === 'node';
  const listeners =
    kernel && isHere && (await guarded('listeners', () => listenersStep(destination, false, outcome, kernel)));
  const findings = [
    knowledge,
    known,
    callerStep(detected, undefined, facts),
    pathStep(outcome, undefined, detected, facts),
    ...(listeners ? [listeners] : []),
  ];
  return finish(findings, { question, facts, detected, outcome });
}

interface Answer {
  readonly question: OperatorQuestion;
  readonly facts: Facts;
  readonly target?: ExplainedTarget;
  readonly detected?: DetectedCaller;
  readonly outcome?: Outcome;
}

function finish(findings: readonly Finding[], { question, facts, target, detected, outcome }: Answer): Explanation {
  const works = target && detected ? worksText(target, detected, outcome, facts) : '';
  const { verdict, summary, next } = judge(findings, outcome, works);
  const advice = next ?? (verdict === 'works' ? stillFailing(question, outcome, facts) : undefined);
  return {
    schema: EXPLANATION_SCHEMA,
    question: questionTexts(question),
    origin: originOf(facts),
    ...(target ? { target } : {}),
    ...(detected ? { caller: callerOf(detected) } : {}),
    steps: findings.map(({ topic, verdict: mark, text, details, data }, i) => ({
      number: i + 1,
      topic,
      verdict: mark,
      text,
      details,
      ...(data === undefined ? {} : { data }),
    })),
    ...(outcome ? { outcome } : {}),
    verdict,
    summary,
    ...(advice ? { next: advice } : {}),
  };
}

/** What to try if the operator sees a failure although everything looked at is good. */
function stillFailing(question: OperatorQuestion, outcome: Outcome | undefined, { kernel }: Facts): NextStep {
  const { to, from } = questionTexts(question);
  const flags = from === undefined ? '' : ` --from ${from}`;
  if (!kernel) return { text: 'if it still fails, ask the proxy of the node, which also reads the kernel' };
  if (!question.probe) {
    return { text: 'if it still fails, try the endpoints, too', command: `kube-proxy explain --probe${flags} ${to}` };
  }
  const caller = question.from.kind === 'address' || question.from.kind === 'node' ? flags : '';
  if (outcome?.kind === 'answered' && outcome.at === 'socket') {
    const [first] = outcome.endpoints;
    const text = 'if it still fails, follow a real packet; its destination is an endpoint already';
    return { text, command: `kube-proxy trace${caller} --to ${first?.text ?? to}` };
  }
  const target = question.to.kind === 'service' ? textOfTarget({ ...question.to, protocol: undefined }) : to;
  return { text: 'if it still fails, follow a real packet', command: `kube-proxy trace${caller} --to ${target}` };
}

function worksText(
  { address, protocol, service }: ExplainedTarget,
  detected: DetectedCaller,
  outcome: Outcome | undefined,
  { kernel }: Facts,
): string {
  const endpoints = outcome?.kind === 'answered' ? outcome.endpoints : [];
  const [only] = endpoints;
  const by = endpoints.length === 1 && only ? `endpoint ${only.text}` : `one of ${endpoints.length} endpoints`;
  return `${kernel ? 'A' : 'By the plan, a'} connection from ${callerName(detected)} to ${address}/${protocol} is answered by ${by} of ${service}.`;
}

function originOf({ origin, nodeName, mode }: Facts): ExplanationOrigin {
  return { kind: origin, node: nodeName, mode: mode.descriptor.name };
}

function targetOf({ plan, frontend, family, ip, port, protocol }: MetFrontend): ExplainedTarget {
  return {
    service: plan.service,
    port: plan.port.name,
    protocol,
    family,
    frontend: frontend.kind,
    address: joinHostPort(ip, port),
  };
}

function callerOf({ caller, ip, pod, how, isAssumed }: DetectedCaller): ExplainedCaller {
  return {
    place: caller.place,
    ...(ip === undefined ? {} : { ip }),
    ...(pod === undefined ? {} : { pod }),
    how,
    isAssumed,
  };
}
