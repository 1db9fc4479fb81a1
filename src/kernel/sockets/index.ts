export { type ConnectOptions, connectTcp, listenTcp } from './tcp.ts';
export { bindUdp, connectUdp } from './udp.ts';
