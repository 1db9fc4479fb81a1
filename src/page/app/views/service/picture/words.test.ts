import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { percent } from '../../../parts/texts.ts';
import { answered, answeredAsNode, endpoint, frontend, NO_LOCAL, port, REFUSED } from '../fixture.ts';
import { groupWays } from './group-ways.ts';
import { frontendId, pictureOf } from './model.ts';
import { callersText, outcomeSign, outcomeText, percentRange } from './words.ts';

const A = '10.244.1.10:8080';
const B = '10.244.2.10:8080';

describe('the words for outcomes', () => {
  test('PAGE-61 odds are percentages that can be compared', () => {
    assert.deepEqual([1, 0.99999, 0.997, 0.5, 1 / 3, 0.0123, 0.001, 0.00001].map(percent), [
      '100\u00a0%',
      '99.9\u00a0%',
      '99.7\u00a0%',
      '50\u00a0%',
      '33\u00a0%',
      '1.2\u00a0%',
      '0.1\u00a0%',
      '<\u00a00.01\u00a0%',
    ]);
    assert.equal(percentRange([0.25, 0.5]), '25–50\u00a0%');
    assert.equal(percentRange([0.5, undefined]), undefined);
    assert.equal(percentRange([]), undefined);
  });

  test('PAGE-65 every outcome is a sentence that needs no picture', () => {
    const texts = [
      outcomeText(answered([A]), { answering: 1, lost: 0 }),
      outcomeText(answeredAsNode([A, B]), { answering: 2, lost: 0 }),
      outcomeText(answered([A, B], { isSticky: true, choice: { kind: 'scheduler', scheduler: 'sh' } }), {
        answering: 2,
        lost: 0,
      }),
      outcomeText(answered([A], { lost: [B] }), { answering: 1, lost: 1 }),
      outcomeText(REFUSED, { answering: 0, lost: 0 }),
      outcomeText(NO_LOCAL, { answering: 0, lost: 0 }),
      outcomeText(answered([A], { at: 'socket' }), { answering: 1, lost: 0 }),
      outcomeText({ ...REFUSED, at: 'socket' }, { answering: 0, lost: 0 }),
    ];
    assert.deepEqual(texts, [
      'is answered by endpoint 10.244.1.10:8080; endpoints see the caller',
      'is answered by one of 2 endpoints, at random (50\u00a0% each); endpoints see the node',
      'is answered by one of 2 endpoints, as the scheduler sh of the kernel decides (50\u00a0% each); endpoints see the caller; a client keeps its endpoint',
      'goes to one of 2 endpoints, at random (50\u00a0% each); endpoints see the caller; the answers of 1 bypass this node, so they are lost',
      'is refused at once: no endpoint of shop/web can serve',
      'gets no answer: externalTrafficPolicy is Local, and no endpoint of shop/web that can serve is on this node',
      'is translated at the socket, and is answered by endpoint 10.244.1.10:8080; endpoints see the caller',
      'is refused at once, inside connect(): no endpoint of shop/web can serve',
    ]);
  });

  test('PAGE-65 callers that get the same have one sentence', () => {
    const { ways } = pictureOf(
      port([frontend({ pod: answered([A]), node: REFUSED, outside: answered([A]) })], [endpoint(A)]),
    );
    assert.deepEqual(
      groupWays(ways).map(({ callers, targets }) => [callersText(callers), targets]),
      [
        ['a pod of this node or a machine outside', ['10.96.0.10:80']],
        ['the node itself', ['10.96.0.10:80']],
      ],
    );
  });

  test('PAGE-65 a sign stands beside the colour', () => {
    assert.deepEqual(
      [answered([A]), answered([A], { lost: [B] }), REFUSED].map(outcome => outcomeSign(outcome).sign),
      ['✓', '!', '✕'],
    );
  });

  test('PAGE-65 an address of IPv6 has brackets, and a node port has no address', () => {
    assert.equal(frontendId({ address: 'fd00::10', port: 53 }), '[fd00::10]:53');
    assert.equal(frontendId({ port: 30_080 }), '30080');
  });
});
