import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { address } from '../../test/support/demo-rows.ts';
import { callerFrom } from './caller.ts';
import type { Expectation, SeenAs } from './expectation.ts';
import { type Observation, observationOf, sumOf } from './observation.ts';
import { disagreement, isSure } from './verdict.ts';

const NODE_IPS = ['192.168.0.2', '10.244.1.1'].map(address);
const A = '10.244.1.11 8080';
const B = '10.244.2.10 8080';

/** What a pod saw: how often which answer, as the servers write them, and failures. */
function seen(answers: Readonly<Record<string, number>>, ...failures: string[]): Observation {
  return observationOf(
    { answers: new Map(Object.entries(answers)), failures: new Set(failures) },
    callerFrom('pod', 'IPv4'),
    NODE_IPS,
  );
}

function answered(by: Readonly<Record<string, SeenAs>>, sticky = false): Expectation {
  return { kind: 'answered', by: new Map(Object.entries(by)), sticky };
}

const both = answered({ '10.244.1.11:8080': 'itself', '10.244.2.10:8080': 'itself' });
const refused: Expectation = { kind: 'refused' };
const silent: Expectation = { kind: 'silent' };

const cases: readonly [what: string, Expectation, Observation, string | undefined][] = [
  ['both endpoints answer', both, seen({ [`${A} 10.244.1.10`]: 3, [`${B} 10.244.1.10`]: 2 }), undefined],
  ['too few tries to miss an endpoint', both, seen({ [`${A} 10.244.1.10`]: 39 }), undefined],
  ['an endpoint is missed', both, seen({ [`${A} 10.244.1.10`]: 40 }), '10.244.2.10:8080 should answer too'],
  ['a stranger answers', both, seen({ '10.9.9.9 80 10.244.1.10': 1 }), '10.9.9.9:80 should not answer'],
  [
    'a caller is masqueraded',
    both,
    seen({ [`${A} 10.244.1.1`]: 1 }),
    "10.244.1.11:8080 should see the caller's own address",
  ],
  [
    'a caller is not masqueraded',
    answered({ '10.244.1.11:8080': 'node' }),
    seen({ [`${A} 10.244.1.10`]: 1 }),
    '10.244.1.11:8080 should see the node as its caller',
  ],
  [
    'some tries fail',
    both,
    seen({ [`${A} 10.244.1.10`]: 9 }, 'timeout'),
    '10.244.1.11:8080 and 10.244.2.10:8080 should answer',
  ],
  [
    'affinity is kept',
    answered({ '10.244.1.11:8080': 'itself', '10.244.2.10:8080': 'itself' }, true),
    seen({ [`${A} 10.244.1.10`]: 100 }),
    undefined,
  ],
  [
    'affinity is not kept',
    answered({ '10.244.1.11:8080': 'itself', '10.244.2.10:8080': 'itself' }, true),
    seen({ [`${A} 10.244.1.10`]: 99, [`${B} 10.244.1.10`]: 1 }),
    'always the same endpoint should answer',
  ],
  ['refused as it should be', refused, seen({}, 'refused'), undefined],
  ['silent instead of refused', refused, seen({}, 'timeout'), 'should be refused'],
  ['a datagram of the node itself that is rejected', refused, seen({}, 'EPERM'), undefined],
  ['silent as it should be', silent, seen({}, 'timeout'), undefined],
  ['refused instead of silent', silent, seen({}, 'refused'), 'should be silent'],
  ['an answer instead of silence', silent, seen({ [`${A} 10.244.1.10`]: 1 }), 'nobody should answer'],
];

describe('what was seen against what should be', () => {
  for (const [what, expected, observation, want] of cases) {
    test(`DEMO-3 ${what}`, () => assert.equal(disagreement(expected, observation), want));
  }

  test('DEMO-3 it is sure once all endpoints answered, or enough tries were made, or something is wrong', () => {
    assert.equal(isSure(both, seen({ [`${A} 10.244.1.10`]: 39 })), false);
    assert.equal(isSure(both, seen({ [`${A} 10.244.1.10`]: 40 })), true);
    assert.equal(isSure(both, seen({ [`${A} 10.244.1.10`]: 1, [`${B} 10.244.1.10`]: 1 })), true);
    assert.equal(isSure(both, seen({}, 'timeout')), true);
  });

  test('DEMO-3 several observations count together', () => {
    const sum = sumOf([
      seen({ [`${A} 10.244.1.10`]: 3 }),
      seen({ [`${A} 10.244.1.1`]: 2, [`${B} 172.16.0.1`]: 1 }, 'timeout'),
    ]);
    assert.deepEqual(
      [...sum.answers].map(([endpoint, { count, seenAs }]) => [endpoint, count, ...seenAs]),
      [
        ['10.244.1.11:8080', 5, 'itself', 'node'],
        ['10.244.2.10:8080', 1, '172.16.0.1'],
      ],
    );
    assert.deepEqual([...sum.failures], ['silent']);
  });

  test('DEMO-3 a message names only some of many endpoints', () => {
    const many = answered(Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`e${i}`, 'itself' as const])));
    assert.equal(disagreement(many, seen({}, 'timeout')), 'e0 and e1 and e2 and 6 more should answer');
  });
});
