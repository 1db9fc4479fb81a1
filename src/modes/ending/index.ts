export { ConnectionEnder, type EndedCount, type EndReport } from './connection-ender.ts';
