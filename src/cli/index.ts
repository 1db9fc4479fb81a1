export type { Io } from './command.ts';
export { main } from './main.ts';
