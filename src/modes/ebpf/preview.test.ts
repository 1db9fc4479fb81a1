import assert from 'node:assert/strict';
import { test } from 'node:test';
import { service, slice } from '../../../test/support/objects.ts';
import { address, NodeUnderTest } from '../../../test/support/outcomes.ts';
import { MASQUERADE_BIT, modeSettings } from '../../proxy/index.ts';
import { previewEbpf } from './preview.ts';

const near = { ip: '10.244.1.2', nodeName: 'node-a' };
const far = { ip: '10.244.2.3', nodeName: 'other-node' };

const tested = new NodeUnderTest([
  service('web', {
    type: 'NodePort',
    clusterIP: '10.96.0.10',
    sessionAffinity: 'ClientIP',
    ports: [{ name: 'http', nodePort: 30080 }],
  }),
  slice('web-1', [far, near], { ports: [{ name: 'http', port: 8080, protocol: 'TCP' }] }),
  service('local', { clusterIP: '10.96.0.11', internalTrafficPolicy: 'Local' }),
  slice('local-1', [near, far]),
  service('empty', { clusterIP: '10.96.0.12' }),
  service('dns', { clusterIP: '10.96.0.53', ports: [{ port: 53, protocol: 'UDP' }] }),
]);

function preview(nodePortAddresses: readonly string[] = ['primary']): Promise<string> {
  const { state } = tested;
  const settings = modeSettings(state, 'IPv4', {
    nodePortAddresses,
    masqueradeBit: MASQUERADE_BIT,
    interfaceIPs: () => [address('192.168.0.2')],
  });
  const plans = [...state.family('IPv4').planner.plans()];
  return previewEbpf({ sockets: 'all' }, { family: 'IPv4', plans, settings, against: 'nothing' });
}

test('EBPF-81 a preview has a line for each frontend, pool and address that sockets serve', async () => {
  assert.deepEqual((await preview()).split('\n'), [
    '# IPv4 sockets: what programs look up inside connect()',
    'frontend 10.96.0.10:80 : default/web:http/TCP cluster (affinity 10800 s)',
    'frontend node port 30080 : default/web:http/TCP cluster (affinity 10800 s)',
    'frontend 10.96.0.11:80 : default/local/TCP local',
    'frontend 10.96.0.12:80 : refuse',
    'endpoints of default/web:http/TCP cluster : 10.244.1.2:8080 10.244.2.3:8080',
    'endpoints of default/local/TCP local : 10.244.1.2:8080',
    'node address 192.168.0.2 : any caller',
    '',
  ]);
});
