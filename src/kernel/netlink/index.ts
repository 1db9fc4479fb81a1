export { type Ack, decodeAck, MessageType } from './ack.ts';
export { type BulkMessage, type Refusal, sendBulk } from './bulk.ts';
export { type MonitorHandlers, NetlinkMonitor } from './monitor.ts';
export * from './reader.ts';
export { type Answers, type Request, sendRequests } from './requests.ts';
export { NetlinkSocket, type Reply, refusalError } from './socket.ts';
export { openTransport, Protocol, type Transport, type TransportOptions } from './transport.ts';
export { isInterrupted, uninterrupted } from './uninterrupted.ts';
export { Flag, HEADER_LENGTH, MAX_ATTRIBUTE, MessageWriter } from './writer.ts';
