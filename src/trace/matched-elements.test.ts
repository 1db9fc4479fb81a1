import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  dataBytes,
  type Element,
  type Expression,
  ipDaddr,
  map,
  metaL4proto,
  metaPriority,
  type NftMap,
  numgen,
  setPriority,
  thDport,
  vmap,
} from '../kernel/nftables/index.ts';
import { type MatchingSet, type MatchState, matchedElements } from './matched-elements.ts';

const NUMBERS: NftMap = {
  kind: 'map',
  name: 'service-numbers',
  type: ['ipv4_addr', 'inet_proto', 'inet_service'],
  data: ['mark'],
};
const TARGETS: NftMap = { kind: 'map', name: 'targets', type: ['mark'], data: ['verdict'] };
const ENDPOINTS: NftMap = { kind: 'map', name: 'endpoints', type: ['ipv4_addr', 'mark'], data: ['ipv4_addr'] };

const FRONTEND: Element = {
  kind: 'element',
  key: dataBytes(NUMBERS.type, ['10.96.0.10', 'tcp', 80]),
  data: dataBytes(['mark'], [7]),
  comment: 'default/web',
};
const TARGET: Element = {
  kind: 'element',
  key: dataBytes(TARGETS.type, [7]),
  verdict: { kind: 'goto', chain: 'pick-cluster-3' },
};

function state(): MatchState {
  return {
    network: Buffer.from('4500003c1c4640004006b1e60af401c80a60000a', 'hex'),
    transport: Buffer.from('a0f2005000000001000000005002ffff00000000', 'hex'),
    protocol: 6,
    meta: new Map(),
  };
}

const asked: string[] = [];

function setNamed(name: string): MatchingSet | undefined {
  const set = [NUMBERS, TARGETS, ENDPOINTS].find(known => known.name === name);
  const elements = name === 'service-numbers' ? [FRONTEND] : name === 'targets' ? [TARGET] : [];
  return (
    set && {
      set,
      element: key => {
        asked.push(name);
        return elements.find(element => element.key.equals(key));
      },
    }
  );
}

const FRONTEND_KEY = [ipDaddr('ip'), metaL4proto, thDport];
const RULE: readonly Expression[] = [
  ...setPriority(map(FRONTEND_KEY, 'service-numbers', 4)),
  ...vmap([metaPriority], 'targets'),
];

test('TRACE-5 the elements that a rule found are looked up, one by the data of the other', () => {
  const found = matchedElements(RULE, state(), setNamed);
  assert.deepEqual(
    found.map(({ set, element }) => [set.name, element]),
    [
      ['service-numbers', FRONTEND],
      ['targets', TARGET],
    ],
  );
});

test('TRACE-5 what a rule stores with the packet is there for the next rule', () => {
  const packet = state();
  matchedElements(setPriority(map(FRONTEND_KEY, 'service-numbers', 4)), packet, setNamed);
  const [found] = matchedElements(vmap([metaPriority], 'targets'), packet, setNamed);
  assert.deepEqual(found?.element, TARGET);
});

test('TRACE-5 a key that depends on chance is not looked up', () => {
  asked.length = 0;
  const rule = vmap([ipDaddr('ip'), numgen('random', 3)], 'endpoints');
  assert.deepEqual(matchedElements(rule, state(), setNamed), []);
  assert.deepEqual(asked, []);
});

test('TRACE-5 a packet that is too short, or a set that is gone, has no elements', () => {
  const short = { ...state(), transport: Buffer.alloc(0) };
  assert.deepEqual(matchedElements(RULE, short, setNamed), []);
  assert.deepEqual(
    matchedElements(RULE, state(), () => undefined),
    [],
  );
});
