export { type Callers, callerFrom, DEFAULT_CALLERS, PLACES, type Place } from './caller.ts';
export { Demo, type DemoOptions } from './demo.ts';
export { DemoPage, type DemoPageOptions } from './demo-page.ts';
export { NODE_NAME } from './demo-proxy.ts';
export { type Answers, answerCount, type Observation } from './observation.ts';
export { Prober } from './prober.ts';
export { type Cell, Results, type RowResults } from './results.ts';
export type { PortInfo, Row, UnusedEndpoint } from './rows.ts';
