import { join } from 'node:path';
import { FAMILIES } from '../../src/net/index.ts';
import { startIpvsProxy } from '../support/ipvs-proxy.ts';
import { readTraffic } from './recorded-case.ts';
import { trafficSuite } from './suite.ts';

/** Starting programs takes long in a guest, so IPv6 is left out where nobody asks for it. */
trafficSuite('IPVS-1', 'ipvs', async ({ cluster, settings, nodeName, caseName }) => {
  const asksForIPv6 = readTraffic(join('test/cases', caseName), 'ipvs').includes('fd00:');
  const families = asksForIPv6 ? FAMILIES : FAMILIES.slice(0, 1);
  return startIpvsProxy(cluster.node, settings, nodeName, { families });
});
