export type { Packet } from './packet.ts';
