import { VARIED_CASES } from '../traffic/recorded-case.ts';
import { equalSuite } from './equal.ts';

equalSuite('READ-1 READ-9', 'ipvs', { cases: VARIED_CASES });
