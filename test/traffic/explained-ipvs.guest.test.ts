import { explainedSuite } from './explained-suite.ts';

// Starting programs takes even longer in a guest.
explainedSuite('ipvs', 'ipvs', {}, ['nodeport-local', 'session-affinity']);
