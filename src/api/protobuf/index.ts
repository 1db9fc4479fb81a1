export { decodeProtobufBookmark } from './bookmark.ts';
export { decodeProtobufObject } from './decode.ts';
export { decodeEnvelope, type Envelope } from './envelope.ts';
export { ListBody } from './list-body.ts';
export { decodeWatchEvent, type ProtobufWatchEvent } from './watch-event.ts';
export { WatchFrames } from './watch-frames.ts';
