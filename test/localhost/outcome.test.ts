import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Outcome } from '../../src/explain/index.ts';
import { withOptions } from '../../src/modes/index.ts';
import { nftables } from '../../src/modes/nftables/index.ts';
import { CALLERS, codesOf, NodeUnderTest } from '../support/outcomes.ts';
import { expectedAnswers } from './expected-answers.ts';
import { CASES, CONFIGURATIONS, type ConfigurationName, OBJECTS } from './situation.ts';

describe('outcomes of node ports at loopback addresses, compared with recorded packets', () => {
  for (const [name, { gate, nodePortAddresses }] of Object.entries(CONFIGURATIONS)) {
    test(`OUTCOME-8 outcomes are what packets get if ${name}`, () => {
      const mode = withOptions(nftables, { localhostNodePorts: gate });
      const tested = new NodeUnderTest(OBJECTS, { mode, nodePortAddresses });
      const expected = expectedAnswers(name as ConfigurationName);
      assert.deepEqual(
        expected.map(line => answerTo(line, tested)),
        expected,
      );
    });
  }
});

/** `line`: `web TCP 127.0.0.1: refused` */
function answerTo(line: string, tested: NodeUnderTest): string {
  const [name = '', protocol = '', ip = ''] = line.replace(/: .*/, '').split(' ');
  const nodePort = CASES.find(one => one.name === name)?.nodePort;
  const outcome = tested.outcome(CALLERS.node, `${ip} ${nodePort} ${protocol}`);
  return `${name} ${protocol} ${ip}: ${answerOf(outcome)}`;
}

/** No program of the node listens at a node port, and no pod listens at port 9. */
function answerOf(outcome: Outcome): string {
  if (outcome.kind === 'silent') return 'timeout';
  if (outcome.kind !== 'answered') return 'refused';
  if (outcome.isSticky) return 'one pod';
  const texts = outcome.endpoints.map(({ text }) => text);
  const isDead = texts.every(text => text.endsWith(':9'));
  // A relay has accepted the connection before the endpoint refuses it.
  if (isDead) return codesOf(outcome).includes('relay') ? 'ECONNRESET' : 'refused';
  return texts.map(text => text.replace(/^\[|\]?:\d+$/g, '')).join(' ');
}
