export type { GenericFamily } from './family.ts';
export { GENERIC_HEADER, type GenericBulk, GenericSocket } from './socket.ts';
