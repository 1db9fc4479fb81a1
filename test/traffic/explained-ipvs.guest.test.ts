import { explainedSuite } from './explained-suite.ts';

explainedSuite('ipvs', 'ipvs');
