export { decodeProtobufBookmark } from './bookmark.ts';
export { decodeProtobufObject } from './decode.ts';
export { ListBody } from './list-body.ts';
export { decodeUnknown, type UnknownObject } from './unknown.ts';
export { decodeWatchEvent, type ProtobufWatchEvent } from './watch-event.ts';
export { WatchFrames } from './watch-frames.ts';
