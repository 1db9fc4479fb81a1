import { equalSuite } from './equal.ts';

equalSuite('READ-1 READ-9', 'ipvs');
