export { SocketReader } from './reader.ts';
