import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { address } from '../../test/support/demo-rows.ts';
import type { Outcome, SeenAs } from '../explain/index.ts';
import { callerFrom } from './caller.ts';
import { findMismatch, isConclusive } from './comparison.ts';
import { combine, type Observation, observationOf } from './observation.ts';

const NODE_IPS = ['192.168.0.2', '10.244.1.1'].map(address);
const A = '10.244.1.11 8080';
const B = '10.244.2.10 8080';

/** The observation of a pod: how often each answer came, as the echo servers write it, and the failures. */
function observed(answers: Readonly<Record<string, number>>, ...failures: string[]): Observation {
  return observationOf(
    { answers: new Map(Object.entries(answers)), failures: new Set(failures) },
    callerFrom('pod', 'IPv4'),
    NODE_IPS,
  );
}

function answered(endpoints: Readonly<Record<string, SeenAs>>, isSticky = false): Outcome {
  const answering = Object.entries(endpoints).map(([text, seenAs]) => ({
    text,
    seenAs,
    sourceIP: undefined,
    odds: 0.5,
  }));
  return { kind: 'answered', endpoints: answering, lost: [], isSticky, choice: { kind: 'random' }, remarks: [] };
}

const both = answered({ '10.244.1.11:8080': 'itself', '10.244.2.10:8080': 'itself' });
const refused: Outcome = { kind: 'refused', code: 'no-endpoints', reason: '' };
const silent: Outcome = { kind: 'silent', code: 'no-local-endpoints', reason: '' };
const elsewhere: Outcome = { kind: 'elsewhere', at: 'network', code: 'not-rejected-from-node', reason: '' };

const cases: readonly [what: string, Outcome, Observation, string | undefined][] = [
  [
    'both endpoints answer, as they should',
    both,
    observed({ [`${A} 10.244.1.10`]: 3, [`${B} 10.244.1.10`]: 2 }),
    undefined,
  ],
  ['after too few tries a silent endpoint is no mismatch', both, observed({ [`${A} 10.244.1.10`]: 39 }), undefined],
  [
    'after enough tries a silent endpoint is a mismatch',
    both,
    observed({ [`${A} 10.244.1.10`]: 40 }),
    '10.244.2.10:8080 should answer too',
  ],
  [
    'an endpoint of no Service answers',
    both,
    observed({ '10.9.9.9 80 10.244.1.10': 1 }),
    '10.9.9.9:80 should not answer',
  ],
  [
    'a caller is masqueraded and should not be',
    both,
    observed({ [`${A} 10.244.1.1`]: 1 }),
    "10.244.1.11:8080 should see the caller's own address",
  ],
  [
    'a caller is not masqueraded and should be',
    answered({ '10.244.1.11:8080': 'node' }),
    observed({ [`${A} 10.244.1.10`]: 1 }),
    '10.244.1.11:8080 should see the node as its caller',
  ],
  [
    'some tries fail',
    both,
    observed({ [`${A} 10.244.1.10`]: 9 }, 'timeout'),
    '10.244.1.11:8080 and 10.244.2.10:8080 should answer',
  ],
  [
    'affinity is kept',
    answered({ '10.244.1.11:8080': 'itself', '10.244.2.10:8080': 'itself' }, true),
    observed({ [`${A} 10.244.1.10`]: 100 }),
    undefined,
  ],
  [
    'affinity is not kept',
    answered({ '10.244.1.11:8080': 'itself', '10.244.2.10:8080': 'itself' }, true),
    observed({ [`${A} 10.244.1.10`]: 99, [`${B} 10.244.1.10`]: 1 }),
    'always the same endpoint should answer',
  ],
  ['a connection is refused, as it should be', refused, observed({}, 'refused'), undefined],
  ['a connection is silent instead of refused', refused, observed({}, 'timeout'), 'should be refused'],
  ['a rejected datagram of the node itself counts as refused', refused, observed({}, 'EPERM'), undefined],
  ['a connection is silent, as it should be', silent, observed({}, 'timeout'), undefined],
  ['a connection is refused instead of silent', silent, observed({}, 'refused'), 'should be silent'],
  [
    'an endpoint answers instead of silence',
    silent,
    observed({ [`${A} 10.244.1.10`]: 1 }),
    'no endpoint should answer',
  ],
  ['a connection that the proxy does not handle may fail in any way', elsewhere, observed({}, 'timeout'), undefined],
  [
    'an endpoint answers a connection that the proxy does not handle',
    elsewhere,
    observed({ [`${A} 10.244.1.10`]: 1 }),
    'no endpoint should answer',
  ],
];

describe('an observation compared with the expectation', () => {
  for (const [what, expected, observation, want] of cases) {
    test(`DEMO-3 ${what}`, () => assert.equal(findMismatch(expected, observation), want));
  }

  test('DEMO-3 an observation is conclusive when all endpoints answered, after enough tries, or at a mismatch', () => {
    assert.equal(isConclusive(both, observed({ [`${A} 10.244.1.10`]: 39 })), false);
    assert.equal(isConclusive(both, observed({ [`${A} 10.244.1.10`]: 40 })), true);
    assert.equal(isConclusive(both, observed({ [`${A} 10.244.1.10`]: 1, [`${B} 10.244.1.10`]: 1 })), true);
    assert.equal(isConclusive(both, observed({}, 'timeout')), true);
  });

  test('DEMO-3 several observations combine into one', () => {
    const combined = combine([
      observed({ [`${A} 10.244.1.10`]: 3 }),
      observed({ [`${A} 10.244.1.1`]: 2, [`${B} 172.16.0.1`]: 1 }, 'timeout'),
    ]);
    assert.deepEqual(
      [...combined.answers].map(([endpoint, { count, seenAs }]) => [endpoint, count, ...seenAs]),
      [
        ['10.244.1.11:8080', 5, 'itself', 'node'],
        ['10.244.2.10:8080', 1, '172.16.0.1'],
      ],
    );
    assert.deepEqual([...combined.failures], ['silent']);
  });

  test('DEMO-3 a message names the first three of many endpoints', () => {
    const many = answered(Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`e${i}`, 'itself' as const])));
    assert.equal(findMismatch(many, observed({}, 'timeout')), 'e0 and e1 and e2 and 6 more should answer');
  });
});
