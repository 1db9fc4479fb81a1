import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KernelError } from '../../../kernel/errors.ts';
import type { Ip } from '../../../net/index.ts';
import type { Frontend } from '../../../plan/index.ts';
import { reserveFrontends } from './reserve-frontends.ts';

const IP = '192.168.0.2' as Ip;
const FRONTEND: Frontend = {
  kind: 'ExternalIP',
  ip: IP,
  port: 80,
  policy: 'Cluster',
  action: 'forward',
  shortCircuit: 'none',
  masquerade: 'from-outside',
  firewall: undefined,
};

function reserveFailing(errno: string) {
  const error = new KernelError('KERNEL_SOCKET', { operation: 'bind TCP 192.168.0.2:80', errno });
  const port = { id: 'web', protocol: 'TCP', machineIPs: new Set([IP]), nodePortRanges: undefined } as const;
  return reserveFrontends({ reserve: () => error }, [FRONTEND], port);
}

test('USER-5 the cause of a port in use names another program, and other causes do not', () => {
  const { cause } = reserveFailing('EADDRINUSE');
  assert.equal(cause?.message, 'bind TCP 192.168.0.2:80: EADDRINUSE; another program has it');
  assert.equal(cause?.errno, 'EADDRINUSE');
  assert.equal(cause?.code, 'KERNEL_SOCKET');
  for (const errno of ['EMFILE', 'EACCES', 'ENOBUFS']) {
    const { cause, frontends } = reserveFailing(errno);
    assert.equal(cause?.message, `bind TCP 192.168.0.2:80: ${errno}`);
    assert.deepEqual(frontends, []);
  }
});

test('USER-5 a frontend whose address the machine no longer has needs no reservation', () => {
  assert.deepEqual(reserveFailing('EADDRNOTAVAIL').frontends, [FRONTEND]);
});
