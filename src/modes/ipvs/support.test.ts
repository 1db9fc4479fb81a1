import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeIpvs } from '../../../test/support/fake-ipvs.ts';
import { RecordingTransport } from '../../../test/support/netlink.ts';
import { KernelError } from '../../kernel/errors.ts';
import { GenericSocket } from '../../kernel/genetlink/index.ts';
import { IpvsSocket, type Service } from '../../kernel/ipvs/index.ts';
import { NetlinkSocket } from '../../kernel/netlink/index.ts';
import { ipvs } from './index.ts';
import { unavailable } from './support.ts';

const ENOENT = 2;
const ipset = () => ({ close: () => {} });

function fakeIpvs(fake = new FakeIpvs()) {
  const one = (kind: 'new-service' | 'del-service', service: Service) =>
    kind === 'new-service' ? { kind, service } : { kind, service: service.key };
  const change = (kind: 'new-service' | 'del-service', service: Service) => {
    fake.apply([one(kind, service)] as Parameters<FakeIpvs['apply']>[0]).then(([refusal]) => assert.ok(!refusal));
  };
  return {
    services: () => fake.services(),
    newService: (service: Service) => change('new-service', service),
    deleteService: (key: Service['key']) => change('del-service', { key, scheduler: '' }),
    close: () => {},
  };
}

test('IPVS-12 a kernel without ip_vs cannot run the mode, and its error is the reason', () => {
  const transport = new RecordingTransport(() => [ENOENT]);
  const ipvs = () => new IpvsSocket(new GenericSocket(new NetlinkSocket(transport)));
  assert.match(unavailable('rr', { ipset, ipvs }) ?? '', /^can't use the IPVS proxier: .*IPVS.*ENOENT/);
});

test('IPVS-12 a kernel without ipset cannot run the mode, and its error is the reason', () => {
  const missing = () => {
    throw new KernelError('KERNEL_SOCKET', { operation: 'ask for the protocol of ipset', errno: 'EINVAL' });
  };
  const text = unavailable('rr', { ipset: missing, ipvs: () => fakeIpvs() });
  assert.equal(
    text,
    "can't use the IPVS proxier: ask for the protocol of ipset: EINVAL; run modprobe ip_set on the node",
  );
});

test('IPVS-12 a virtual server is made and deleted to test the scheduler, unless another one has it', () => {
  const fake = new FakeIpvs();
  assert.equal(unavailable('rr', { ipset, ipvs: () => fakeIpvs(fake) }), undefined);
  assert.deepEqual(fake.requests, ['-A -t 198.51.100.0:20000 -s rr', '-D -t 198.51.100.0:20000']);
  const used = new FakeIpvs();
  const key = { kind: 'fwmark', family: 'IPv4', fwmark: 1 } as const;
  used.apply([{ kind: 'new-service', service: { key, scheduler: 'rr' } }]);
  used.requests.length = 0;
  assert.equal(unavailable('rr', { ipset, ipvs: () => fakeIpvs(used) }), undefined);
  assert.deepEqual(used.requests, []);
});

test('IPVS-22 the deprecation is an Event of the Node', () => {
  assert.deepEqual(ipvs.startEvent, {
    type: 'Warning',
    reason: 'IPVSDeprecation',
    action: 'StartKubeProxy',
    note: "The ipvs proxier has been deprecated and will be disabled by default in Kubernetes 1.40 and removed in Kubernetes 1.43. Migrate to the 'nftables' proxier instead.",
  });
});
