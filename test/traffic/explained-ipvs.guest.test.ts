import { explainedSuite } from './explained-suite.ts';

// Starting programs takes long in a guest, so these are few cases.
explainedSuite('ipvs', 'ipvs', {}, ['nodeport-local', 'session-affinity']);
