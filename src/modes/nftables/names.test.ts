import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Protocol } from '../../api/index.ts';
import type { Endpoint } from '../../model/index.ts';
import type { ServicePortPlan } from '../../plan/index.ts';
import { endpointBase, servicePortBase } from './names.ts';

function plan(service: string, protocol: Protocol, name: string): ServicePortPlan {
  return { service, port: { name, protocol } } as ServicePortPlan;
}

const endpoint = (ip: string, port: number) => ({ ip, port }) as Endpoint;

describe('names of chains and sets of one service port', () => {
  const ports: [string, Protocol, string, string][] = [
    ['testing/service', 'TCP', 'http', 'P4ZYZVCF-testing/service/tcp/http'],
    ['testing/service', 'TCP', 'https', 'LZBRENCP-testing/service/tcp/https'],
    ['ns1/svc1', 'TCP', 'p80', 'ULMVA6XW-ns1/svc1/tcp/p80'],
    ['ns1/svc1', 'TCP', '', '6KJ5P52A-ns1/svc1/tcp/'],
  ];
  for (const [service, protocol, name, want] of ports) {
    test(`NFT-13 names of ${service} ${protocol} ${name} end in ${want}`, () =>
      assert.equal(servicePortBase(plan(service, protocol, name)), want));
  }

  test('MODE-10 characters that nft interprets become _, and different names stay different', () => {
    const evil = servicePortBase(plan('ns/a"\n} table ip x {', 'TCP', ''));
    assert.match(evil, /^[A-Z2-7]{8}-ns\/a____table_ip_x__\/tcp\/$/);
    assert.notEqual(evil, servicePortBase(plan('ns/a____table_ip_x__', 'TCP', '')));
  });

  test('NFT-13 names of an endpoint end in its address and port, with dots in place of colons', () => {
    assert.equal(
      endpointBase(plan('ns5/svc5', 'TCP', 'p80'), endpoint('10.180.0.3', 80)),
      'GTK6MW7G-ns5/svc5/tcp/p80__10.180.0.3/80',
    );
    assert.equal(
      endpointBase(plan('testing/service', 'TCP', 'http'), endpoint('fd80:abcd:12::a1b2:c3d4:e5f6:9999', 80)),
      'U7E2ET36-testing/service/tcp/http__fd80.abcd.12..a1b2.c3d4.e5f6.9999/80',
    );
  });

  test('NFT-13 the longest name of an endpoint is cut at 240 bytes, and its hash still differs from others', () => {
    const longest = plan(`${'n'.repeat(63)}/${'s'.repeat(63)}`, 'SCTP', 'p'.repeat(63));
    assert.ok(servicePortBase(longest).length <= 240);
    const [one, other] = ['1', '2'].map(last =>
      endpointBase(longest, endpoint(`1234:5678:9abc:def0:1234:5678:9abc:def${last}`, 65535)),
    );
    assert.equal(one?.length, 240);
    assert.ok(one?.endsWith('...'));
    assert.notEqual(one, other);
  });
});
