import { explainedSuite } from './explained-suite.ts';

explainedSuite('ebpf', 'ebpf');
