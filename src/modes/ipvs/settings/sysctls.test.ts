import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ipvsSysctls } from './sysctls.ts';

const names = (kernel: string, strictARP = false) =>
  ipvsSysctls({ strictARP, kernel }).map(({ name, value }) => `${name.split('/').slice(2).join('/')}=${value}`);

test('IPVS-3 the mode sets the sysctls in this order', () => {
  assert.deepEqual(names('6.1.0-13-amd64', true), [
    'vs/conntrack=1',
    'vs/expire_nodest_conn=1',
    'vs/expire_quiescent_template=1',
    'ip_forward=1',
    'conf/all/arp_ignore=1',
    'conf/all/arp_announce=2',
  ]);
});

test('IPVS-3 conn_reuse_mode is set only on kernels where it does harm', () => {
  const isSet = (kernel: string) => names(kernel).includes('vs/conn_reuse_mode=0');
  assert.deepEqual(['4.0.9', '4.1.0', '4.18.0-553.el8', '5.8.1', '5.9.0', '5.15.0', '6.1.0'].map(isSet), [
    false,
    true,
    true,
    true,
    false,
    false,
    false,
  ]);
});
