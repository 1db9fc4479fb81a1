import { VARIED_CASES } from '../traffic/recorded-case.ts';
import { equalSuite } from './equal.ts';

equalSuite('READ-1 READ-9 LISTING-2 LISTING-4', 'ipvs', { cases: VARIED_CASES });
