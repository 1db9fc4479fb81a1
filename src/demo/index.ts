export { Board, type BoardRow, type Cell } from './board.ts';
export { callerFrom, PLACES, type Place } from './caller.ts';
export { Demo, type DemoOptions } from './demo.ts';
export { NODE_NAME } from './demo-proxy.ts';
export type { Expectation, SeenAs } from './expectation.ts';
export { type Answers, countOf, type Observation } from './observation.ts';
export { Rounds } from './rounds.ts';
export type { PortInfo, Row, UnusedEndpoint } from './rows.ts';
