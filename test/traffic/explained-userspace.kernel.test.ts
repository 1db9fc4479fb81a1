import { explainedSuite, FEW_CASES } from './explained-suite.ts';

explainedSuite('userspace', 'userspace', {}, FEW_CASES);
