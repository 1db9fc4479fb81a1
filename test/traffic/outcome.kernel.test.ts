import { outcomeSuite } from './outcome-suite.ts';

outcomeSuite('nftables');
outcomeSuite('iptables');
outcomeSuite('userspace');
