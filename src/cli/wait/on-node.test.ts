import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ProgrammedAnswer, ProxyClientError } from '../../inspect/index.ts';
import type { ProxySocket } from '../proxy-socket.ts';
import { waitOnNode } from './on-node.ts';
import type { Target } from './target.ts';

const ANSWER: ProgrammedAnswer = {
  schema: 'pointsman.programmed/v1',
  node: 'node-a',
  pending: true,
  programmed: { services: '10', endpointSlices: '10' },
  received: { services: '12', endpointSlices: '13' },
  setAside: [],
  setAsideCount: 0,
  service: { name: 'shop/web', known: true },
};

/** Waits with a proxy that gives these answers, and then the last one again and again. */
async function wait(answers: readonly (Partial<ProgrammedAnswer> | Error)[], target?: Target, timeoutMs = 5000) {
  let asked = 0;
  const ask = async () => {
    const answer = answers[Math.min(asked++, answers.length - 1)];
    if (answer instanceof Error) throw answer;
    return { ...ANSWER, ...answer };
  };
  const socket = { path: '/x', ask } as unknown as ProxySocket;
  const missing = await waitOnNode({ socket, service: 'shop/web', target, timeUp: AbortSignal.timeout(timeoutMs) });
  return { missing, asked };
}

const DONE = { programmed: { services: '12', endpointSlices: '13' } };

test('PROGRAMMED-10 the wait ends when the kernel has what the proxy had received at its start', async () => {
  const later = { services: '99', endpointSlices: '99' };
  const { missing, asked } = await wait([{}, { received: later }, { ...DONE, received: later }]);
  assert.deepEqual([missing, asked], [undefined, 3]);
});

test('PROGRAMMED-10 without versions the wait ends when nothing is pending', async () => {
  const none = { services: undefined, endpointSlices: undefined };
  const { missing, asked } = await wait([
    { received: none, programmed: none },
    { received: none, programmed: none, pending: false },
  ]);
  const half = { services: '12', endpointSlices: undefined };
  const again = await wait([{ received: half, programmed: half }, { pending: false }]);
  assert.deepEqual([again.missing, again.asked], [undefined, 2]);
  assert.deepEqual([missing, asked], [undefined, 2]);
});

test('PROGRAMMED-10 the wait is for the versions of the API server if the command has read them', async () => {
  const target: Target = { service: 'shop/web', services: '20', endpointSlices: undefined, sliceCount: 0 };
  const { missing } = await wait([DONE, { programmed: { services: '20', endpointSlices: '1' } }], target);
  assert.equal(missing, undefined);
});

test('PROGRAMMED-10 a Service that is set aside ends the wait with the reason, and a restart of the proxy does not', async () => {
  const gone = new ProxyClientError('no-socket', 'nobody listens');
  const port = { service: 'shop/web', port: 'http', protocol: 'TCP', family: 'IPv4', message: 'refused' } as const;
  const { missing, asked } = await wait([{}, gone, { ...DONE, setAside: [port] }]);
  assert.deepEqual(missing, { node: 'node-a', cause: 'set-aside', message: 'port http: refused' });
  assert.equal(asked, 3);
  await assert.rejects(wait([gone]), gone);
});

test('PROGRAMMED-10 at the end of the time the wait says what the kernel has, or that the proxy does not know the Service', async () => {
  const { missing } = await wait([{}], undefined, 1);
  assert.equal(missing?.message, 'the kernel has Services up to version 10 and EndpointSlices up to version 10');
  const unknown = await wait([{ ...DONE, service: { name: 'shop/web', known: false } }], undefined, 1);
  assert.equal(unknown.missing?.cause, 'unknown');
});
