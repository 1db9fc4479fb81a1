import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type EndpointSlice, objectKey, type Service } from '../../src/api/index.ts';
import { type Explanation, explain, type Facts, type OperatorQuestion } from '../../src/explain/index.ts';
import { MASQUERADE_BIT, modeSettings, ProxyState } from '../../src/proxy/index.ts';
import { factsFrom } from '../support/facts.ts';
import { describeAnswers } from './answers.ts';
import { CaseObjects, handOver, NODE_NAME } from './case-objects.ts';
import { type Question, questions } from './matrix.ts';
import { MODES } from './modes.ts';
import { caseFolders, type RecordedCase, readCase, readTraffic } from './recorded-case.ts';
import { NODE_IPS, type RecordedSource, recordedSources, resultIn } from './recorded-network.ts';
import { type CaseSettings, caseSettings } from './settings.ts';
import { caseMode } from './start-proxy.ts';

for (const mode of MODES) {
  describe(`explanations in ${mode} mode`, () => {
    for (const folder of caseFolders(mode)) {
      test(`EXPLAIN-22 ${folder}: explanations say what packets were recorded to get`, async () => {
        const recorded = await readCase(folder);
        const lines = await explainCase(recorded, caseSettings(recorded.configuration, mode));
        assert.equal(lines.join('\n'), readTraffic(folder, mode));
      });
    }
  });
}

/** The lines that the traffic suite would record. Each question has the caller's address, as an operator would ask. */
async function explainCase({ steps }: RecordedCase, settings: CaseSettings): Promise<readonly string[]> {
  const objects = new CaseObjects();
  const state = new ProxyState({ nodeName: NODE_NAME, settings: settings.plan, startedAt: 0, report: () => {} });
  const slices = new Map<string, EndpointSlice>();
  const all: EndpointSlice[] = [];
  const lines: string[] = [];
  for (const [number, step] of steps.entries()) {
    handOver(objects.apply(step), state);
    state.take();
    const added = step.set.filter(object => object.kind === 'EndpointSlice');
    all.push(...added);
    for (const slice of added) slices.set(objectKey(slice.metadata), slice);
    const facts = factsOf(state, objects.services, slices, settings);
    const label = number === 0 ? '' : `[step ${number}] `;
    for (const question of questions(objects.services, recordedSources(all))) {
      lines.push(`${label}${question.text} => ${await answerOf(question, facts, settings)}`);
    }
  }
  return lines;
}

function factsOf(
  state: ProxyState,
  services: readonly Service[],
  slices: ReadonlyMap<string, EndpointSlice>,
  settings: CaseSettings,
): Facts {
  const { nodePortAddresses } = settings;
  const input = { nodePortAddresses, masqueradeBit: MASQUERADE_BIT, interfaceIPs: () => NODE_IPS };
  return factsFrom(state, {
    origin: 'manifests',
    nodeName: NODE_NAME,
    mode: caseMode(settings),
    settings: family => modeSettings(state, family, input),
    interfaceIPs: NODE_IPS,
    services: new Map(services.map(service => [objectKey(service.metadata), service])),
    slices,
  });
}

async function answerOf(question: Question<RecordedSource>, facts: Facts, settings: CaseSettings): Promise<string> {
  const { source, ip, port, protocol } = question;
  const { place, ip: callerIP } = source.caller;
  const asked: OperatorQuestion = {
    to: { kind: 'address', ip, port, protocol },
    from: place === 'node' ? { kind: 'node' } : { kind: 'address', ip: callerIP },
    probe: false,
  };
  const explanation = await explain(asked, facts);
  const { outcome } = explanation;
  assert.ok(outcome, question.text);
  checkVerdict(explanation, question.text);
  return describeAnswers(question, resultIn(question, outcome), settings.scheduler);
}

/** A connection works exactly if endpoints answer it. What others answer is not known. */
function checkVerdict({ verdict, outcome, summary }: Explanation, text: string): void {
  const isAnswered = outcome?.kind === 'answered' && outcome.lost.length === 0;
  assert.equal(verdict === 'works', isAnswered, `${text}: ${summary}`);
  assert.ok(verdict !== 'unknown' || outcome?.kind === 'elsewhere', `${text}: ${summary}`);
}
