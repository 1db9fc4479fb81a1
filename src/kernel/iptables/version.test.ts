import assert from 'node:assert/strict';
import { test } from 'node:test';
import { featuresOf, parseVersion } from './version.ts';

const versions = [
  ['iptables v1.8.9 (nf_tables)', '1.8.9', 'nf_tables'],
  ['iptables v1.8.9 (legacy)', '1.8.9', 'legacy'],
  ['iptables v1.8.11 (nf_tables)\n', '1.8.11', 'nf_tables'],
  ['ip6tables v1.8.10 (nf_tables)', '1.8.10', 'nf_tables'],
  ['iptables-nft-restore v1.8.9 (nf_tables)', '1.8.9', 'nf_tables'],
  ['iptables-restore v1.8.9 (legacy)', '1.8.9', 'legacy'],
  ['iptables v1.6.1', '1.6.1', 'legacy'],
  ['iptables-restore v1.4.21', '1.4.21', 'legacy'],
  ['iptables v1.4.9.1', '1.4.9.1', 'legacy'],
  ['iptables v2.0', '2.0', 'legacy'],
  ['iptables 1.8.9', undefined, 'legacy'],
  ['iptables v1', undefined, 'legacy'],
  ['iptables vX.Y', undefined, 'legacy'],
  ['sh: iptables: not found', undefined, 'legacy'],
  ['', undefined, 'legacy'],
] as const;

for (const [text, version, backend] of versions) {
  test(`KERNEL-9 the version text ${JSON.stringify(text)} is ${version} of ${backend}`, () => {
    assert.deepEqual(parseVersion(text), { version, backend });
  });
}

const features = [
  // version, restore prints one, -C, -w, restore -w, --random-fully
  ['1.4.7', false, false, 'none', 'none', false],
  ['1.4.9.1', false, false, 'none', 'none', false],
  ['1.4.10', false, false, 'none', 'none', false],
  ['1.4.11', false, true, 'none', 'none', false],
  ['1.4.19.1', false, true, 'none', 'none', false],
  ['1.4.20', false, true, 'endless', 'none', false],
  ['1.4.21', true, true, 'endless', 'endless', false],
  ['1.4.22', false, true, 'seconds', 'none', false],
  ['1.6.0', false, true, 'seconds', 'none', false],
  ['1.6.1', true, true, 'seconds', 'endless', false],
  ['1.6.2', true, true, 'seconds', 'seconds', true],
  ['1.8', false, true, 'seconds', 'seconds', true],
  ['1.8.10', true, true, 'seconds', 'seconds', true],
  ['1.10', true, true, 'seconds', 'seconds', true],
  ['2.0', true, true, 'seconds', 'seconds', true],
  [undefined, false, true, 'none', 'none', false],
  [undefined, true, true, 'none', 'endless', false],
] as const;

for (const [version, restoreSays, check, wait, restoreWait, randomFully] of features) {
  test(`KERNEL-9 iptables ${version ?? 'of unknown version'}, restore ${restoreSays ? 'with' : 'without'} --version: its features`, () => {
    const found = featuresOf({ version, backend: 'legacy' }, restoreSays);
    assert.deepEqual(found, { check, wait, restoreWait, randomFully });
  });
}
