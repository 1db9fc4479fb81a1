import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  answered,
  answeredAsNode,
  EXCLUDED,
  endpoint,
  frontend,
  NO_LOCAL,
  nodePort,
  port,
  REFUSED,
} from '../fixture.ts';
import { groupWays } from './group-ways.ts';
import { endsBehind, MORE, pictureOf } from './model.ts';
import { chosenShares, oddsText } from './selection.ts';

const A = '10.244.1.10:8080';
const B = '10.244.2.10:8080';
const C = '10.244.2.11:8080';
const ENDPOINTS = [endpoint(B), endpoint(A, { local: true, node: 'node-a' }), endpoint(C)];

describe('the picture of a Service', () => {
  test('PAGE-60 every caller has a way to every address, and a link to each endpoint with its odds', () => {
    const picture = pictureOf(port([frontend(answered([A, B, C]))], ENDPOINTS));
    assert.deepEqual(
      picture.ways.map(({ from, to }) => `${from} → ${to}`),
      ['pod → 10.96.0.10:80', 'node → 10.96.0.10:80', 'outside → 10.96.0.10:80'],
    );
    assert.deepEqual(
      picture.links.map(link => link.endpoint),
      [A, B, C],
    );
    assert.equal(oddsText(picture, A, {}), '33\u00a0%');
  });

  test('PAGE-60 used endpoints come first, and those of this node before others', () => {
    const idle = endpoint('10.244.1.9:8080', { local: true, clusterPolicy: { used: false, reason: 'not ready' } });
    const picture = pictureOf(port([frontend(answered([A, B]))], [idle, ...ENDPOINTS.slice(0, 2)]));
    assert.deepEqual(
      picture.endpoints.map(({ detail, isUsed }) => [detail.address, isUsed]),
      [
        [A, true],
        [B, true],
        [idle.address, false],
      ],
    );
  });

  test('PAGE-61 odds depend on the caller that is chosen', () => {
    const outcomes = { pod: answered([A, B]), node: answered([A, B]), outside: answered([A]) };
    const picture = pictureOf(port([nodePort(outcomes)], ENDPOINTS));
    assert.equal(oddsText(picture, A, {}), '50–100\u00a0%');
    assert.equal(oddsText(picture, A, { from: 'outside' }), '100\u00a0%');
    assert.equal(oddsText(picture, B, { from: 'outside' }), undefined);
    assert.equal(oddsText(picture, B, { from: 'pod', to: '30080' }), '50\u00a0%');
    assert.equal(oddsText(picture, B, { to: '10.96.0.10:80' }), undefined);
    assert.deepEqual(
      picture.links.map(link => chosenShares(link, { from: 'outside' }).length),
      [1, 0],
    );
  });

  test('PAGE-62 a way says that the source is replaced, but not for the node itself', () => {
    const picture = pictureOf(port([frontend(answeredAsNode([A]))], ENDPOINTS));
    assert.deepEqual(
      picture.ways.map(({ asNode }) => asNode),
      ['all', 'none', 'all'],
    );
  });

  test('PAGE-63 a refusal is an end of its own: before the address, or behind it', () => {
    const external = frontend(
      { pod: answered([A]), node: NO_LOCAL, outside: EXCLUDED },
      { kind: 'LoadBalancerIP', address: '203.0.113.1' },
    );
    const { ways } = pictureOf(port([external], ENDPOINTS));
    assert.deepEqual(
      ways.map(({ end }) => end && [end.at, end.text]),
      [undefined, ['behind', 'silent: no local endpoints'], ['before', 'silent: source ranges']],
    );
    const [end, ...more] = endsBehind(pictureOf(port([frontend(REFUSED)], [])).ways, '10.96.0.10:80');
    assert.equal(end?.text, 'refused: no endpoints');
    assert.deepEqual(end?.callers, ['pod', 'node', 'outside']);
    assert.deepEqual(more, []);
    const some = frontend({ pod: NO_LOCAL, node: answered([A]), outside: NO_LOCAL });
    assert.deepEqual(
      endsBehind(pictureOf(port([some], ENDPOINTS)).ways, '10.96.0.10:80').map(({ callers }) => callers),
      [['pod'], ['outside']],
      'each caller has its own row',
    );
  });

  test('PAGE-63 a caller without an address is answered only if source ranges allow it', () => {
    const guarded = frontend(answered([A]), { kind: 'LoadBalancerIP', sourceRanges: ['192.0.2.0/24'] });
    const { ways } = pictureOf(port([guarded], ENDPOINTS));
    assert.deepEqual(
      ways.map(({ isGuarded }) => isGuarded),
      [true, false, true],
    );
    assert.deepEqual(
      groupWays(ways).map(({ callers, text }) => [callers, text.slice(0, 36)]),
      [
        [['pod', 'outside'], 'with an allowed source is answered by'.slice(0, 36)],
        [['node'], 'is answered by endpoint 10.244.1.10:'],
      ],
    );
  });

  test('PAGE-63 an endpoint whose answers are lost has a link of its own kind', () => {
    const picture = pictureOf(port([frontend(answered([A], { lost: [B] }))], ENDPOINTS));
    assert.deepEqual(
      picture.ways.map(({ lost }) => lost),
      [1, 1, 1],
    );
    assert.deepEqual(
      picture.links.map(({ endpoint: address, shares }) => [address, shares.every(({ isLost }) => isLost)]),
      [
        [A, false],
        [B, true],
      ],
    );
  });

  test('PAGE-64 of a thousand endpoints twelve are shown, and the others have one share together', () => {
    const texts = Array.from({ length: 1000 }, (_, i) => `10.1.${i >> 8}.${i & 255}:80`);
    const outcome = answered(texts);
    const first = { ...outcome, endpoints: outcome.endpoints.slice(0, 100) };
    const picture = pictureOf(
      port(
        [frontend(first, { answering: { pod: 1000, node: 1000, outside: 1000 } })],
        texts.map(text => endpoint(text)),
      ),
    );
    assert.equal(picture.endpoints.length, 12);
    assert.equal(picture.hiddenEndpoints, 988);
    assert.equal(oddsText(picture, MORE, {}), '99\u00a0%');
    assert.equal(oddsText(picture, texts[0] ?? '', {}), '0.1\u00a0%');
  });

  test('PAGE-64 the share of the others is right although lists of lost answers are cut', () => {
    const endpoints = [endpoint(A), ...Array.from({ length: 99 }, (_, i) => endpoint(`10.2.0.${i}:80`))];
    const outcome = answered([A], { lost: ['10.2.0.0:80'] });
    const cut = { ...outcome, endpoints: outcome.endpoints.map(each => ({ ...each, odds: 0.01 })) };
    const picture = pictureOf(port([frontend(cut, { losing: { pod: 99, node: 99, outside: 99 } })], endpoints));
    assert.equal(oddsText(picture, MORE, {}), '98\u00a0%');
  });

  test('PAGE-64 BALANCE-24 endpoints with different weights have their own odds, and no answer is lost', () => {
    const outcome = answered([A, B]);
    const odds = [0.75, 0.25];
    const weighted = { ...outcome, endpoints: outcome.endpoints.map((each, i) => ({ ...each, odds: odds[i] })) };
    const picture = pictureOf(port([frontend(weighted)], [endpoint(A), endpoint(B)]));
    assert.deepEqual(
      picture.ways.map(({ lost }) => lost),
      [0, 0, 0],
    );
    assert.deepEqual(
      [A, B].map(text => oddsText(picture, text, {})),
      ['75\u00a0%', '25\u00a0%'],
    );
  });

  test('PAGE-64 of many addresses some of every kind are shown', () => {
    const external = Array.from({ length: 20 }, (_, i) =>
      frontend(answered([A]), { kind: 'ExternalIP', address: `192.0.2.${i}` }),
    );
    const picture = pictureOf(port([frontend(answered([A])), ...external, nodePort(answered([A]))], ENDPOINTS));
    assert.equal(picture.frontends.length, 6);
    assert.equal(picture.hiddenFrontends, 16);
    assert.deepEqual(
      [...new Set(picture.frontends.map(({ detail }) => detail.kind))],
      ['ClusterIP', 'ExternalIP', 'NodePort'],
    );
  });
});
