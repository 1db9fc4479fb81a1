import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { latestOf } from '../../src/lib/change.ts';
import { runNftScript } from '../support/run-in.ts';
import { type StartProxy, trafficCase } from './suite.ts';

const CASE = 'test/cases/clusterip-basic';

/** Rules for the only Service of the case. `masqueraded` matches the callers that the rules masquerade. */
function rules(masqueraded: string): string {
  const endpoints = '{ 0 : 10.244.1.2 . 8080, 1 : 10.244.2.3 . 8080, 2 : 10.244.3.4 . 8080 }';
  const toService = `ip daddr 10.96.0.10 tcp dport 80 dnat to numgen random mod 3 map ${endpoints}`;
  return `table ip t {
    chain prerouting { type nat hook prerouting priority dstnat; ${toService}; }
    chain output { type nat hook output priority -100; ${toService}; }
    chain postrouting {
      type nat hook postrouting priority srcnat
      ct status dnat ${masqueraded} masquerade
      ct status dnat ip saddr 10.244.1.2 ip daddr 10.244.1.2 masquerade
    }
  }`;
}

function proxyOf(ruleset: string, closed: string[] = []): StartProxy {
  return async ({ cluster, nodeName, caseName }) => ({
    async apply({ services, endpointSlices, nodes }) {
      assert.deepEqual([services.length, endpointSlices.length, nodes.length], [1, 1, 1]);
      assert.deepEqual(
        nodes.map(change => latestOf(change).metadata.name),
        [nodeName],
      );
      runNftScript(cluster.node, ruleset);
    },
    async close() {
      closed.push(caseName);
    },
  });
}

test('PLAY-2 a case passes if every question is answered as recorded, and leaves no descriptor open', async () => {
  const before = readdirSync('/proc/self/fd').length;
  const closed: string[] = [];
  await trafficCase(CASE, 'nftables', proxyOf(rules('ip saddr != 10.244.0.0/16'), closed));
  assert.deepEqual(closed, ['clusterip-basic']);
  // An earlier test may close one of its own meanwhile.
  assert.ok(readdirSync('/proc/self/fd').length <= before);
});

test('PLAY-2 a case fails if endpoints see another caller than recorded', async () => {
  const closed: string[] = [];
  await assert.rejects(trafficCase(CASE, 'nftables', proxyOf(rules(''), closed)), {
    code: 'ERR_ASSERTION',
    message: /from pod => 10\.244\.1\.2:8080 10\.244\.2\.3:8080 10\.244\.3\.4:8080 as node/,
  });
  assert.deepEqual(closed, ['clusterip-basic']);
});
