import { explainedSuite } from './explained-suite.ts';

explainedSuite('nftables', 'nftables');
