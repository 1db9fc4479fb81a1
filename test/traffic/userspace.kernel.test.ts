import { startProxyIn } from './start-proxy.ts';
import { trafficSuite } from './suite.ts';

trafficSuite('USER-22', 'userspace', startProxyIn('userspace'));
