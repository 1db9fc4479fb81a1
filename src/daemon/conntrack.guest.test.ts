import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rememberingLog } from '../../test/support/log.ts';
import type { ConntrackConfiguration } from '../config/index.ts';
import { countMachineCpus } from '../kernel/cpus.ts';
import { type ModuleParameter, readModuleParameter, writeModuleParameter } from '../kernel/module-parameter.ts';
import { readSysctl, writeSysctl } from '../kernel/sysctl.ts';
import { applyConntrack } from './conntrack.ts';

const HASH_SIZE: ModuleParameter = { module: 'nf_conntrack', parameter: 'hashsize' };
const MAX = 'net/netfilter/nf_conntrack_max';
/** This many buckets fill one page. The kernel makes no smaller table. */
const SMALL = 512;

function configurationFor(flows: number): ConntrackConfiguration {
  return {
    maxPerCore: flows / countMachineCpus(),
    min: 0,
    tcpEstablishedTimeout: 0n,
    tcpCloseWaitTimeout: 0n,
    tcpBeLiberal: false,
    udpTimeout: 0n,
    udpStreamTimeout: 0n,
  };
}

// Both values belong to the whole machine, so only a test in a guest may change them.
test('START-4 the flow table gets its size, and its hash table grows to a bucket for four flows but never shrinks', () => {
  const before = { hashSize: readModuleParameter(HASH_SIZE), max: readSysctl(MAX) };
  try {
    writeModuleParameter(HASH_SIZE, SMALL);
    const { log, lines } = rememberingLog();
    applyConntrack(configurationFor(16 * SMALL), log);
    assert.equal(readSysctl(MAX), `${16 * SMALL}`);
    assert.equal(readModuleParameter(HASH_SIZE), 4 * SMALL);
    assert.deepEqual(lines, [
      `I Set sysctl {"entry":"${MAX}","value":${16 * SMALL}}`,
      `I Set conntrack hashsize {"buckets":${4 * SMALL}}`,
    ]);
    applyConntrack(configurationFor(8 * SMALL), log);
    assert.equal(readSysctl(MAX), `${8 * SMALL}`);
    assert.equal(readModuleParameter(HASH_SIZE), 4 * SMALL);
  } finally {
    writeModuleParameter(HASH_SIZE, before.hashSize);
    writeSysctl(MAX, before.max);
  }
});
