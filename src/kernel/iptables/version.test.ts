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
  test(`KERNEL-9 the version text ${JSON.stringify(text)} means ${version} with the backend ${backend}`, () => {
    assert.deepEqual(parseVersion(text), { version, backend });
  });
}

const features = [
  // version, whether restore prints a version, -C, -w, restore -w, --random-fully
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

for (const [version, restorePrintsVersion, check, wait, restoreWait, randomFully] of features) {
  const withOption = restorePrintsVersion ? 'with' : 'without';
  test(`KERNEL-9 the features of iptables ${version ?? 'of unknown version'}, restore ${withOption} --version`, () => {
    const found = featuresOf({ version, backend: 'legacy' }, restorePrintsVersion);
    assert.deepEqual(found, { check, wait, restoreWait, randomFully });
  });
}
