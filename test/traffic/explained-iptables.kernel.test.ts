import { explainedSuite, FEW_CASES } from './explained-suite.ts';

explainedSuite('iptables', 'iptables with nf_tables', { backend: 'nf_tables' }, FEW_CASES);
explainedSuite('iptables', 'iptables with legacy tables', { backend: 'legacy' });
