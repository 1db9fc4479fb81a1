export type { Counter } from './counter.ts';
export { type NfacctOptions, NfacctSocket } from './socket.ts';
