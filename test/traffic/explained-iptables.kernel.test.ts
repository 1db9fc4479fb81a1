import { explainedSuite } from './explained-suite.ts';

/** The backends differ only in how a list of rules is read. */
const LEGACY_CASES = ['loadbalancer-source-ranges', 'session-affinity'];

explainedSuite('iptables', 'iptables with nf_tables', { backend: 'nf_tables' });
explainedSuite('iptables', 'iptables with legacy tables', { backend: 'legacy', cases: LEGACY_CASES });
