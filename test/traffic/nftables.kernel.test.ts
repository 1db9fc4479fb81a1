import { startProxyIn } from './start-proxy.ts';
import { trafficSuite } from './suite.ts';

trafficSuite('NFT-14', 'nftables', startProxyIn('nftables'));
