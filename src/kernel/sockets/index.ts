export { bindDatagrams, connectDatagrams, DatagramExchange } from './datagram.ts';
export { EventPoll, Ready, type ReadyHandler } from './event-poll.ts';
export { closeRaw, descriptorLimit, openBound, openSpare, portOf } from './raw-socket.ts';
export { encodeSocketAddress } from './socket-address.ts';
export {
  acceptStream,
  connectResult,
  connectStream,
  EAGAIN,
  endWriting,
  listenStream,
  receive,
  resetStream,
  type StreamOptions,
  setUserTimeout,
  transmit,
} from './stream.ts';
export { type ConnectOptions, connectTcp, listenTcp } from './tcp.ts';
export { bindUdp, connectUdp } from './udp.ts';
