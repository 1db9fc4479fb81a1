import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { service } from '../../test/support/objects.ts';
import type { Problem } from '../lib/problem.ts';
import type { Family } from '../net/index.ts';
import { clusterIPOfFamily, convertService, shouldSkipService } from './convert-service.ts';
import { isExternallyAccessible, usesClusterEndpoints, usesLocalEndpoints } from './service-port.ts';

type Overrides = Parameters<typeof service>[1];

function convert(overrides: Overrides, family: Family = 'IPv4') {
  const problems: Problem[] = [];
  const ports = convertService(service('ns/svc', overrides), family, problem => problems.push(problem));
  return { ports, problems };
}

function only(overrides: Overrides, family: Family = 'IPv4') {
  const { ports } = convert(overrides, family);
  assert.equal(ports.length, 1);
  const [port] = ports;
  assert.ok(port);
  return port;
}

describe('Services that a proxy handles', () => {
  const skipped: [string, Overrides, boolean][] = [
    ['a Service with a cluster IP', {}, false],
    ['a Service without a cluster IP', { clusterIP: '' }, true],
    ['a headless Service', { clusterIP: 'None' }, true],
    ['an ExternalName Service with a cluster IP', { type: 'ExternalName', clusterIP: '10.0.0.1' }, true],
    ['an ExternalName Service without a cluster IP', { type: 'ExternalName', clusterIP: '' }, true],
    ['a LoadBalancer Service', { type: 'LoadBalancer' }, false],
    ['a headless Service with an address in clusterIPs', { clusterIP: 'None', clusterIPs: ['10.0.0.1'] }, true],
  ];
  for (const [what, overrides, want] of skipped) {
    test(`MODEL-3 ${what} is ${want ? 'skipped' : 'handled'}`, () => {
      assert.equal(shouldSkipService(service('svc', overrides)), want);
      assert.equal(convert(overrides).ports.length, want ? 0 : 1);
    });
  }

  test('MODEL-3 a headless Service has no service ports, even with ports in its spec', () => {
    assert.deepEqual(convert({ clusterIP: 'None', ports: [{ protocol: 'SCTP', port: 7777 }] }).ports, []);
    assert.deepEqual(convert({ clusterIP: 'None', ports: [] }).ports, []);
  });
});

describe('the cluster IP of a family', () => {
  test('MODEL-22 a cluster IP of another family than ipFamilies says is reported and not used', () => {
    const { ports, problems } = convert({ clusterIP: 'fd00::1', clusterIPs: ['fd00::1'], ipFamilies: ['IPv4'] });
    assert.deepEqual(ports, []);
    assert.deepEqual(problems, [
      {
        kind: 'Service',
        object: 'Service ns/svc',
        field: 'spec.clusterIP',
        message: '"fd00::1" is not an IPv4 address, as spec.ipFamilies says',
      },
    ]);
  });

  const v4 = '10.0.0.1';
  const v6 = 'fd00::1';
  const cases: [string, Overrides, string | undefined, string | undefined][] = [
    ['IPv4 without ipFamilies', { clusterIP: v4, clusterIPs: [], ipFamilies: [] }, v4, undefined],
    ['IPv6 without ipFamilies', { clusterIP: v6, clusterIPs: [], ipFamilies: [] }, undefined, v6],
    ['single-stack IPv4', { clusterIP: v4, clusterIPs: [v4], ipFamilies: ['IPv4'] }, v4, undefined],
    ['single-stack IPv6', { clusterIP: v6, clusterIPs: [v6], ipFamilies: ['IPv6'] }, undefined, v6],
    ['dual-stack, IPv4 first', { clusterIP: v4, clusterIPs: [v4, v6], ipFamilies: ['IPv4', 'IPv6'] }, v4, v6],
    ['dual-stack, IPv6 first', { clusterIP: v6, clusterIPs: [v6, v4], ipFamilies: ['IPv6', 'IPv4'] }, v4, v6],
    ['a family without an address', { clusterIP: v4, clusterIPs: [v4], ipFamilies: ['IPv4', 'IPv6'] }, v4, undefined],
  ];
  for (const [what, overrides, want4, want6] of cases) {
    test(`MODEL-4 the cluster IP of each family is found: ${what}`, () => {
      const { spec } = service('svc', overrides);
      assert.equal(clusterIPOfFamily(spec, 'IPv4'), want4);
      assert.equal(clusterIPOfFamily(spec, 'IPv6'), want6);
      assert.equal(convert(overrides, 'IPv4').ports[0]?.clusterIP, want4);
      assert.equal(convert(overrides, 'IPv6').ports[0]?.clusterIP, want6);
    });
  }

  test('MODEL-4 a Service of the other family has no service ports, which is no problem', () => {
    assert.deepEqual(convert({ clusterIP: v6 }, 'IPv4'), { ports: [], problems: [] });
    assert.deepEqual(convert({ clusterIP: v4 }, 'IPv6'), { ports: [], problems: [] });
  });

  test('MODEL-4 a cluster IP that is not an address is reported, and the Service has no service ports', () => {
    const { ports, problems } = convert({ clusterIP: 'ten', clusterIPs: [], ipFamilies: [] });
    assert.deepEqual(ports, []);
    assert.deepEqual(problems, [
      { kind: 'Service', object: 'Service ns/svc', field: 'spec.clusterIP', message: '"ten" is not an IP address' },
    ]);
  });
});

describe('the service port', () => {
  test('MODEL-5 each port is a service port, and node ports count whatever the type is', () => {
    const { ports } = convert({
      ports: [
        { name: 'dns', protocol: 'UDP', port: 53, nodePort: 30053 },
        { name: 'dns-tcp', protocol: 'TCP', port: 53 },
      ],
    });
    assert.deepEqual(
      ports.map(({ name, protocol, port, nodePort }) => [name, protocol, port, nodePort]),
      [
        ['dns', 'UDP', 53, 30053],
        ['dns-tcp', 'TCP', 53, 0],
      ],
    );
  });

  test('MODEL-5 a Service without ports has no service ports', () =>
    assert.deepEqual(convert({ ports: [] }).ports, []));

  const collisions: [string, Parameters<typeof service>[1]][] = [
    ['name', { ports: [{ port: 80 }, { port: 81 }] }],
    [
      'number',
      {
        ports: [
          { name: 'a', port: 80 },
          { name: 'b', port: 80, nodePort: 1 },
        ],
      },
    ],
    [
      'node port',
      {
        ports: [
          { name: 'a', port: 80, nodePort: 9 },
          { name: 'b', port: 81, nodePort: 9 },
        ],
      },
    ],
  ];
  for (const [what, overrides] of collisions) {
    test(`MODEL-5 of two ports with the same ${what} and protocol the last is used, and the first is reported`, () => {
      const { ports, problems } = convert(overrides);
      const last = overrides?.ports?.[1];
      assert.deepEqual(
        ports.map(({ name, port }) => [name, port]),
        [[last?.name ?? '', last?.port]],
      );
      assert.deepEqual(
        problems.map(({ field }) => field),
        ['spec.ports[0]'],
      );
    });
  }

  test('MODEL-5 a TCP port and a UDP port may have the same number', () => {
    const ports = [
      { name: 'a', port: 53 },
      { name: 'b', port: 53, protocol: 'UDP' as const },
    ];
    assert.equal(convert({ ports }).ports.length, 2);
  });

  test('MODEL-5 addresses are in canonical form', () => {
    assert.equal(only({ clusterIP: '010.096.0.001' }).clusterIP, '10.96.0.1');
  });

  test('MODEL-7 only ClientIP is session affinity, with a default timeout of three hours', () => {
    assert.equal(only({}).affinitySeconds, 0);
    assert.equal(only({ sessionAffinity: 'ClientIP', sessionAffinityTimeoutSeconds: 300 }).affinitySeconds, 300);
    assert.equal(only({ sessionAffinity: 'ClientIP' }).affinitySeconds, 10800);
    assert.equal(only({ sessionAffinity: 'None', sessionAffinityTimeoutSeconds: 300 }).affinitySeconds, 0);
  });
});

describe('addresses of both families', () => {
  const both: Overrides = {
    clusterIP: '10.0.0.1',
    clusterIPs: ['10.0.0.1', 'fd00::1'],
    ipFamilies: ['IPv4', 'IPv6'],
    externalIPs: ['1.2.3.4', '2001:db8::1', '1.2.3.4'],
    loadBalancerSourceRanges: ['10.1.2.3/28', '2001:db8:85a3::1/64', ' 10.2.0.0/16 '],
    ingress: [
      { ip: '10.5.5.5' },
      { ip: '2001:db8::5' },
      { ip: '10.5.5.6', ipMode: 'Proxy' },
      { ip: '10.5.5.7', ipMode: 'VIP' },
    ],
  };

  test('MODEL-6 IPv4 has the IPv4 addresses, in order, with duplicates', () => {
    const port = only(both, 'IPv4');
    assert.deepEqual(port.externalIPs, ['1.2.3.4', '1.2.3.4']);
    assert.deepEqual(port.loadBalancerSourceRanges, [
      { address: '10.1.2.0', prefix: 28 },
      { address: '10.2.0.0', prefix: 16 },
    ]);
    assert.deepEqual(port.loadBalancerVIPs, ['10.5.5.5', '10.5.5.7']);
  });

  test('MODEL-6 IPv6 has the IPv6 addresses', () => {
    const port = only(both, 'IPv6');
    assert.deepEqual(port.externalIPs, ['2001:db8::1']);
    assert.deepEqual(port.loadBalancerSourceRanges, [{ address: '2001:db8:85a3::', prefix: 64 }]);
    assert.deepEqual(port.loadBalancerVIPs, ['2001:db8::5']);
  });

  test('MODEL-6 load-balancer addresses count whatever the type is', () => {
    assert.deepEqual(only({ type: '', ingress: [{ ip: '1.2.3.4' }] }).loadBalancerVIPs, ['1.2.3.4']);
  });

  test('MODEL-6 an ingress without an address is ignored, which is no problem', () => {
    const { ports, problems } = convert({ ingress: [{ ip: '' }, { ip: 'lb.example' }] });
    assert.deepEqual(ports[0]?.loadBalancerVIPs, []);
    assert.deepEqual(problems, []);
  });

  test('MODEL-6 a range of all addresses removes the restriction of its family only', () => {
    const ranges = { loadBalancerSourceRanges: ['10.0.0.0/8', '0.0.0.0/0', 'fd00::/8'] };
    assert.deepEqual(only(ranges).loadBalancerSourceRanges, []);
    const v6 = only({ ...ranges, clusterIP: 'fd00::1' }, 'IPv6');
    assert.deepEqual(v6.loadBalancerSourceRanges, [{ address: 'fd00::', prefix: 8 }]);
  });

  test('MODEL-6 if all ranges are of the other family, there is no restriction', () => {
    assert.deepEqual(only({ loadBalancerSourceRanges: ['fd00::/8'] }).loadBalancerSourceRanges, []);
  });

  test('MODEL-6 texts that do not parse are reported with their field and ignored; blank texts are ignored', () => {
    const { ports, problems } = convert({
      externalIPs: ['1.2.3.4', ' ', 'nine', '1.2.3.4/32'],
      loadBalancerSourceRanges: ['10.0.0.0/8', '', '10.0.0.0'],
    });
    assert.deepEqual(ports[0]?.externalIPs, ['1.2.3.4']);
    assert.deepEqual(
      problems.map(({ field }) => field),
      ['spec.externalIPs[2]', 'spec.externalIPs[3]', 'spec.loadBalancerSourceRanges[2]'],
    );
  });
});

describe('policies', () => {
  const policies: [Overrides, boolean][] = [
    [{ type: 'LoadBalancer', externalTrafficPolicy: 'Local', healthCheckNodePort: 1 }, true],
    [{ type: 'NodePort', externalTrafficPolicy: 'Local' }, true],
    [{ type: 'ClusterIP', externalTrafficPolicy: 'Local' }, false],
    [{ type: 'ClusterIP', externalTrafficPolicy: 'Local', externalIPs: ['1.2.3.4'] }, true],
    [{ type: '', externalTrafficPolicy: 'Local', externalIPs: ['1.2.3.4'] }, false],
    [{ type: 'NodePort', externalTrafficPolicy: 'Cluster' }, false],
  ];
  for (const [overrides, want] of policies) {
    test(`MODEL-5 the external policy of ${JSON.stringify(overrides)} is ${want ? 'Local' : 'Cluster'}`, () =>
      assert.equal(only(overrides).externalPolicyLocal, want));
  }

  test('MODEL-5 the default of the internal policy is Cluster', () => {
    assert.equal(only({}).internalPolicyLocal, false);
    assert.equal(only({ internalTrafficPolicy: 'Cluster' }).internalPolicyLocal, false);
    assert.equal(only({ internalTrafficPolicy: 'Local' }).internalPolicyLocal, true);
  });

  // internal, external, externally accessible → uses cluster, uses local endpoints
  const uses: [string, string, boolean, boolean, boolean][] = [
    ['Cluster', 'Cluster', false, true, false],
    ['Cluster', 'Local', false, true, false],
    ['Cluster', 'Cluster', true, true, false],
    ['Cluster', 'Local', true, true, true],
    ['Local', 'Cluster', false, false, true],
    ['Local', 'Local', false, false, true],
    ['Local', 'Cluster', true, true, true],
    ['Local', 'Local', true, true, true],
  ];
  for (const [internal, external, accessible, cluster, local] of uses) {
    const used = [...(cluster ? ['cluster'] : []), ...(local ? ['local'] : [])].join(' and ');
    const policies = `internal ${internal} and external ${external}`;
    test(`PLAN-1 with policies ${policies}${accessible ? ' and a node port' : ''} it uses ${used} endpoints`, () => {
      const port = only({
        type: 'NodePort',
        internalTrafficPolicy: internal,
        externalTrafficPolicy: external,
        ports: [{ nodePort: accessible ? 30000 : 0 }],
      });
      assert.equal(isExternallyAccessible(port), accessible);
      assert.equal(usesClusterEndpoints(port), cluster);
      assert.equal(usesLocalEndpoints(port), local);
    });
  }
});

describe('health check node port', () => {
  test('MODEL-8 only a LoadBalancer Service with external policy Local has one, on each of its ports', () => {
    const lb: Overrides = { type: 'LoadBalancer', externalTrafficPolicy: 'Local', healthCheckNodePort: 345 };
    const { ports } = convert({
      ...lb,
      ports: [
        { name: 'a', port: 1 },
        { name: 'b', port: 2 },
      ],
    });
    assert.deepEqual(
      ports.map(port => port.healthCheckNodePort),
      [345, 345],
    );
    assert.equal(only({ ...lb, type: 'NodePort' }).healthCheckNodePort, 0);
    assert.equal(only({ ...lb, externalTrafficPolicy: 'Cluster' }).healthCheckNodePort, 0);
  });

  test('MODEL-8 a missing health check node port is reported', () => {
    const { problems } = convert({ type: 'LoadBalancer', externalTrafficPolicy: 'Local' });
    assert.deepEqual(
      problems.map(({ field }) => field),
      ['spec.healthCheckNodePort'],
    );
  });
});

describe('scheduler', () => {
  const annotations = (scheduler: string) => ({ annotations: { 'pointsman.dev/scheduler': scheduler } });

  test('MODEL-21 the scheduler is the one in the annotation', () => {
    assert.equal(only({}).scheduler, '');
    assert.equal(only(annotations('lc')).scheduler, 'lc');
  });

  test('MODEL-21 a name that cannot be a scheduler of the kernel is reported and ignored', () => {
    for (const name of ['RR', 'a b', '-x', 'sixteencharacter']) {
      const { ports, problems } = convert(annotations(name));
      assert.equal(ports[0]?.scheduler, '');
      assert.deepEqual(
        problems.map(({ field }) => field),
        ['metadata.annotations[pointsman.dev/scheduler]'],
      );
    }
  });
});

describe('balance', () => {
  const annotated = (balance: string) => {
    const problems: Problem[] = [];
    const plain = service('ns/svc');
    const metadata = { ...plain.metadata, annotations: { 'pointsman.dev/balance': balance } };
    const [port] = convertService({ ...plain, metadata }, 'IPv4', problem => problems.push(problem));
    return { balance: port?.options.algorithm, fields: problems.map(({ field }) => field) };
  };

  test('BALANCE-1 by default a Service chooses no algorithm, and an unknown one is reported and ignored', () => {
    assert.equal(only({}).options.algorithm, undefined);
    assert.deepEqual(annotated('least-connections'), { balance: 'least-connections', fields: [] });
    assert.deepEqual(annotated('round-robin'), { balance: 'round-robin', fields: [] });
    assert.deepEqual(annotated('best'), {
      balance: undefined,
      fields: ['metadata.annotations[pointsman.dev/balance]'],
    });
  });
});
