import { equalSuite } from './equal.ts';

equalSuite('READ-1 LISTING-2 LISTING-4', 'nftables');
