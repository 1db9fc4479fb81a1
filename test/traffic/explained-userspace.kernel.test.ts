import { explainedSuite } from './explained-suite.ts';

/** Every question runs many programs, so these are few cases. */
const CASES = ['dual-stack', 'no-endpoints', 'nodeport-local', 'session-affinity'];

explainedSuite('userspace', 'userspace', { cases: CASES });
