import { explainedSuite } from './explained-suite.ts';

explainedSuite('iptables', 'iptables with nf_tables', { backend: 'nf_tables' });
explainedSuite('iptables', 'iptables with legacy tables', { backend: 'legacy' });
