import { startProxyIn } from './start-proxy.ts';
import { trafficSuite } from './suite.ts';

trafficSuite('PLAY-2', 'iptables', startProxyIn('iptables'));
