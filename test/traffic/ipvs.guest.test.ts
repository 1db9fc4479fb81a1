import { startIpvsProxy } from '../support/ipvs-proxy.ts';
import { trafficSuite } from './suite.ts';

trafficSuite('ipvs', async ({ cluster, settings, nodeName }) => startIpvsProxy(cluster.node, settings, nodeName));
