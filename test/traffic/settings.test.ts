import assert from 'node:assert/strict';
import { test } from 'node:test';
import { caseSettings } from './settings.ts';

test('PLAY-2 a case without a configuration detects pods by cluster CIDR', () => {
  const { plan } = caseSettings({}, 'iptables');
  assert.equal(plan.mode, 'ClusterCIDR');
  assert.deepEqual(plan.clusterCIDRs, ['10.244.0.0/16', 'fd00:10:244::/48']);
  assert.equal(plan.masqueradeAll, false);
});

test('PLAY-2 an empty cluster CIDR means that there is none', () => {
  assert.deepEqual(caseSettings({ clusterCIDR: '' }, 'nftables').plan.clusterCIDRs, []);
});

test('PLAY-2 by default, node ports are on the primary addresses in nftables mode and on all addresses in other modes', () => {
  assert.deepEqual(caseSettings({}, 'nftables').nodePortAddresses, ['primary']);
  assert.deepEqual(caseSettings({}, 'iptables').nodePortAddresses, []);
  assert.deepEqual(caseSettings({}, 'ipvs').nodePortAddresses, []);
  const nodePortAddresses = ['192.168.0.0/24'];
  assert.deepEqual(caseSettings({ nodePortAddresses }, 'nftables').nodePortAddresses, nodePortAddresses);
});

test('PLAY-2 masqueradeAll is a setting of each mode, and ipvs mode uses that of iptables mode', () => {
  const configuration = { iptables: { masqueradeAll: true }, nftables: { masqueradeAll: false } };
  assert.equal(caseSettings(configuration, 'nftables').plan.masqueradeAll, false);
  assert.equal(caseSettings(configuration, 'iptables').plan.masqueradeAll, true);
  assert.equal(caseSettings(configuration, 'ipvs').plan.masqueradeAll, true);
});

test('PLAY-2 the settings of one mode reach the proxy', () => {
  const settings = caseSettings(
    { ipvs: { scheduler: 'sh', strictARP: true }, iptables: { localhostNodePorts: false } },
    'ipvs',
  );
  assert.equal(settings.scheduler, 'sh');
  assert.equal(settings.strictARP, true);
  assert.equal(settings.localhostNodePorts, false);
  assert.equal(caseSettings({}, 'iptables').localhostNodePorts, true);
});
