export type { GenericFamily } from './family.ts';
export { GENERIC_HEADER_LENGTH, type GenericBulk, GenericSocket } from './socket.ts';
