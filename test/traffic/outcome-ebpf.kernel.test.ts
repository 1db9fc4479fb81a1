import { outcomeSuite } from './outcome-suite.ts';

outcomeSuite('ebpf');
