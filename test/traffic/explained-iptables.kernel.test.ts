import { explainedSuite } from './explained-suite.ts';

/** Every question runs many programs, so these are few cases. */
const CASES = ['dual-stack', 'loadbalancer-local', 'loadbalancer-source-ranges', 'no-endpoints', 'session-affinity'];
/** The backends differ only in how a list of rules is read. */
const LEGACY_CASES = ['loadbalancer-source-ranges', 'session-affinity'];

explainedSuite('iptables', 'iptables with nf_tables', { backend: 'nf_tables', cases: CASES });
explainedSuite('iptables', 'iptables with legacy tables', { backend: 'legacy', cases: LEGACY_CASES });
