import { ManualClock } from '../support/manual-clock.ts';
import { explainedSuite } from './explained-suite.ts';

// Starting programs takes even longer in a guest. No time passes for the mode, so it does not compare everything while
// the kernel is read.
explainedSuite('ipvs', 'ipvs', { clock: new ManualClock(), cases: ['nodeport-local', 'session-affinity'] });
