import { startProxyIn } from './start-proxy.ts';
import { trafficSuite } from './suite.ts';

trafficSuite('userspace', startProxyIn('userspace'));
