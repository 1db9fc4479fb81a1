import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { EndpointSlice } from '../../src/api/index.ts';
import { ProxyState } from '../../src/proxy/index.ts';
import { describeAnswers } from './answers.ts';
import { CaseObjects, handOver, NODE_NAME } from './case-objects.ts';
import { caseOutcome } from './case-outcome.ts';
import { type Question, questions } from './matrix.ts';
import { MODES } from './modes.ts';
import { caseFolders, type RecordedCase, readCase, readTraffic } from './recorded-case.ts';
import { type RecordedSource, recordedSources, resultIn } from './recorded-network.ts';
import { type CaseSettings, caseSettings } from './settings.ts';

/** How many lines are recorded. A test that reads fewer proves less than it says. */
const RECORDED_LINES = 4202;

let compared = 0;

for (const mode of MODES) {
  describe(`outcomes in ${mode} mode`, () => {
    for (const folder of caseFolders(mode)) {
      test(`OUTCOME-1 ${folder}: outcomes are what packets were recorded to get`, async () => {
        const recorded = await readCase(folder);
        const lines = explainCase(recorded, caseSettings(recorded.configuration, mode));
        const traffic = readTraffic(folder, mode);
        compared += traffic.split('\n').length;
        assert.equal(lines.join('\n'), traffic);
      });
    }
  });
}

test('OUTCOME-1 every recorded line was compared', () => assert.equal(compared, RECORDED_LINES));

/** The lines that the traffic suite would record, without a packet. */
function explainCase({ steps }: RecordedCase, settings: CaseSettings): readonly string[] {
  const objects = new CaseObjects();
  const state = new ProxyState({
    nodeName: NODE_NAME,
    settings: settings.plan,
    startedAt: 0,
    report: ({ message }) => assert.fail(message),
  });
  const slices: EndpointSlice[] = [];
  const lines: string[] = [];
  for (const [number, step] of steps.entries()) {
    handOver(objects.apply(step), state);
    state.take();
    slices.push(...step.set.filter(object => object.kind === 'EndpointSlice'));
    const label = number === 0 ? '' : `[step ${number}] `;
    for (const question of questions(objects.services, recordedSources(slices))) {
      lines.push(`${label}${question.text} => ${explain(question, state, settings)}`);
    }
  }
  return lines;
}

function explain(question: Question<RecordedSource>, state: ProxyState, settings: CaseSettings): string {
  return describeAnswers(question, resultIn(question, caseOutcome(question, state, settings)), settings.scheduler);
}
