import { join } from 'node:path';
import { FAMILIES } from '../../src/net/index.ts';
import { readTraffic } from './recorded-case.ts';
import { startProxy } from './start-proxy.ts';
import { trafficSuite } from './suite.ts';

/** Starting programs takes long in a guest, so the proxy has no IPv6 if the case has no question about it. */
trafficSuite('IPVS-1', 'ipvs', async ({ cluster, settings, caseName }) => {
  const asksForIPv6 = readTraffic(join('test/cases', caseName), 'ipvs').includes('fd00:');
  const families = asksForIPv6 ? FAMILIES : FAMILIES.slice(0, 1);
  return startProxy('ipvs', cluster.node, settings, { families });
});
