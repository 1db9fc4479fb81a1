import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KernelError } from '../../../kernel/errors.ts';
import type { Ip } from '../../../net/index.ts';
import type { Frontend } from '../../../plan/index.ts';
import { claimFrontends } from './reserve-frontends.ts';

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

function failing(errno: string) {
  const error = new KernelError('KERNEL_SOCKET', { operation: 'bind TCP 192.168.0.2:80', errno });
  const claimant = { id: 'web', protocol: 'TCP', all: new Set([IP]), ranges: undefined } as const;
  return claimFrontends({ claim: () => error }, [FRONTEND], claimant);
}

test('USER-5 only of a port that is in use it is said that another program has it', () => {
  assert.equal(failing('EADDRINUSE').problem, 'bind TCP 192.168.0.2:80: EADDRINUSE; another program has it');
  for (const errno of ['EMFILE', 'EACCES', 'ENOBUFS']) {
    const { problem, frontends } = failing(errno);
    assert.equal(problem, `bind TCP 192.168.0.2:80: ${errno}`);
    assert.deepEqual(frontends, []);
  }
});

test('USER-5 an address that is gone meanwhile needs no claim', () => {
  assert.deepEqual(failing('EADDRNOTAVAIL').frontends, [FRONTEND]);
});
