export { ConnectionEnder, type EndReport } from './connection-ender.ts';
