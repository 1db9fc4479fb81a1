import { explainedSuite } from './explained-suite.ts';

explainedSuite('userspace', 'userspace');
