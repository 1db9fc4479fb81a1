import assert from 'node:assert/strict';
import { test } from 'node:test';
import { planned } from '../../../test/support/ipvs-plan.ts';
import { service, slice } from '../../../test/support/objects.ts';

test('IPVS-21 what a first start would write is printed in the words of the programs', () => {
  const objects = [
    service('demo/web', { clusterIP: '10.96.10.20' }),
    slice('demo/web-1', [{ ip: '10.244.1.5', nodeName: 'node-a' }, '10.244.2.7']),
  ];
  const { text } = planned(objects, { family: 'IPv4' });
  assert.deepEqual(text.match(/^# .*/gm), [
    '# IPv4: ipset restore',
    '# IPv4: addresses of kube-ipvs0',
    '# IPv4: ipvsadm -R',
    '# IPv4: iptables-restore -w 5 --noflush --counters',
  ]);
  assert.match(text, /^create KUBE-CLUSTER-IP hash:ip,port family inet hashsize 1024 maxelem 65536$/m);
  assert.equal(planned(objects).text, text);
});
