import { equalSuite } from './equal.ts';

equalSuite('READ-1', 'nftables');
