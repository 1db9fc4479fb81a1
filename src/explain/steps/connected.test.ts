import assert from 'node:assert/strict';
import { test } from 'node:test';
import { web, webSlice } from '../../../test/support/explain-cases.ts';
import { ask, factsOf, stepText } from '../../../test/support/explain-facts.ts';
import type { ConnectedSocket, SocketReading } from '../../modes/index.ts';
import type { Ip } from '../../net/index.ts';

const ENTRY = { kind: 'element', place: 'map', wanted: '1', found: '1' } as const;
const readBack = async () => ({ entries: [ENTRY], affinity: [] });

function socket(service: string, endpoint: string): ConnectedSocket {
  return {
    service: { ip: service as Ip, port: 80 },
    endpoint: { ip: endpoint as Ip, port: 8080 },
    caller: { ip: '10.244.1.9' as Ip, port: 40001 },
    isOfNode: false,
    state: 'ESTAB',
  };
}

async function explained(sockets: readonly ConnectedSocket[] | undefined, more: Partial<SocketReading> = {}) {
  const reading = sockets && { sockets, count: sockets.length, ...more };
  return await ask('web', factsOf([web, webSlice], { kernel: { readBack, sockets: async () => reading } }));
}

const OWN = socket('10.96.0.10', '10.244.1.2');
const GONE = socket('10.96.0.10', '10.244.9.9');
const OTHER = socket('10.96.0.99', '10.244.1.2');

test('SOCKETS-14 an explanation counts the sockets that are connected to the service port, by endpoint', async () => {
  const answer = await explained([OWN, OTHER, OWN]);
  assert.equal(
    stepText(answer, 'connected'),
    'good: 2 sockets are connected to default/web:http now.\n10.244.1.2:8080: 2 sockets are connected to it now',
  );
  assert.equal(
    stepText(await explained([OTHER]), 'connected'),
    'good: No socket is connected to default/web:http now.',
  );
});

test('SOCKETS-14 connections to an endpoint that is gone are a note, and the verdict stays', async () => {
  const answer = await explained([OWN, GONE, OWN]);
  assert.deepEqual(stepText(answer, 'connected').split('\n'), [
    'note: 3 sockets are connected to default/web:http now, 1 of them to endpoints that are gone.',
    '10.244.1.2:8080: 2 sockets are connected to it now',
    '10.244.9.9:8080: 1 socket is connected to it now; no EndpointSlice has it any more',
  ]);
  assert.equal(answer.verdict, 'works');
});

test('SOCKETS-14 sockets that cannot be listed are a note, and other modes have no such step', async () => {
  const refused = await explained([], { incomplete: 'the process lacks CAP_PERFMON' });
  assert.equal(
    stepText(refused, 'connected'),
    'note: It is not known who is connected: the process lacks CAP_PERFMON.',
  );
  assert.equal(refused.verdict, 'works');
  const { steps } = await explained(undefined);
  assert.equal(
    steps.find(({ topic }) => topic === 'connected'),
    undefined,
  );
});
