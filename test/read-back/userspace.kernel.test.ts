import { equalSuite } from './equal.ts';

equalSuite('READ-1 READ-10', 'userspace');
