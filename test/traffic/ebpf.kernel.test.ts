import { startProxyIn } from './start-proxy.ts';
import { trafficSuite } from './suite.ts';

trafficSuite('EBPF-80', 'ebpf', startProxyIn('ebpf'));
