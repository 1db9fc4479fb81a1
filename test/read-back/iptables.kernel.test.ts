import { VARIED_CASES } from '../traffic/recorded-case.ts';
import { equalSuite } from './equal.ts';

equalSuite('READ-1 READ-8 LISTING-2 LISTING-4', 'iptables', { backend: 'legacy' });
equalSuite('READ-1 READ-8 LISTING-2 LISTING-4', 'iptables', { backend: 'nf_tables', cases: VARIED_CASES });
