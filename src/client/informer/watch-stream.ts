import {
  type Bookmark,
  type DecodeResult,
  decodeBookmark,
  decodeEnvelope,
  decodeObject,
  decodeProtobufBookmark,
  decodeProtobufObject,
  decodeWatchEvent,
  WatchFrames,
} from '../../api/index.ts';
import { TooDeepError } from '../../lib/nesting.ts';
import { parseJson } from '../../lib/parse-json.ts';
import { type ApiResponse, decodeStatus, errorFromStatus } from '../index.ts';
import { encodingOf, UnreadableError } from './encoding.ts';
import { JsonLines, MAX_LINE_BYTES } from './json-lines.ts';
import type { Resource } from './resource.ts';

export type WatchEvent =
  /** The object was added or modified. It may be one that cannot be used. */
  | { readonly type: 'present'; readonly result: DecodeResult }
  | { readonly type: 'deleted'; readonly result: DecodeResult }
  | { readonly type: 'bookmark'; readonly bookmark: Bookmark };

type Emit = (event: WatchEvent) => void;

/** Reads a watch until the server ends it. Rejects if the watch breaks off, cannot be read, or ends with an error. */
export async function readWatch(response: ApiResponse, resource: Resource, emit: Emit): Promise<void> {
  switch (await encodingOf(response)) {
    case 'protobuf':
      return readProtobuf(response, resource, emit);
    case 'json':
      return readJson(response, resource, emit);
  }
}

async function readProtobuf({ body }: ApiResponse, resource: Resource, emit: Emit): Promise<void> {
  const frames = new WatchFrames();
  const emitEvent = (frame: Uint8Array) => emit(protobufEvent(frame, resource));
  for await (const chunk of body) {
    frames.push(chunk, emitEvent);
    if (frames.broken) throw notAnEvent();
  }
  if (!frames.complete) throw cutOff();
}

function protobufEvent(frame: Uint8Array, { kind }: Resource): WatchEvent {
  const event = decodeWatchEvent(frame);
  if (event?.type === 'ERROR') throw errorOf(event.object);
  const unknown = event && decodeEnvelope(event.object);
  if (unknown?.type.kind !== kind) throw notAnEvent();
  if (event?.type === 'BOOKMARK') return bookmarkEvent(decodeProtobufBookmark(unknown.raw));
  return objectEvent(event?.type, decodeProtobufObject(unknown.raw, kind));
}

async function readJson({ body }: ApiResponse, resource: Resource, emit: Emit): Promise<void> {
  const lines = new JsonLines();
  const emitEvent = (line: string) => emit(jsonEvent(line, resource));
  for await (const chunk of body) {
    lines.push(chunk, emitEvent);
    if (lines.broken) throw tooLong();
  }
  if (!lines.complete) throw cutOff();
}

function jsonEvent(line: string, { kind, apiVersion }: Resource): WatchEvent {
  const { type, object } = parseEvent(line);
  if (type === 'ERROR') throw errorOf(Buffer.from(JSON.stringify(object) ?? ''));
  if (type === 'BOOKMARK') return bookmarkEvent(decodeBookmark(object));
  return objectEvent(type, decodeObject(object, { kind, apiVersion }));
}

function parseEvent(line: string): { readonly type?: unknown; readonly object?: unknown } {
  try {
    const value = parseJson(line);
    if (typeof value === 'object' && value !== null) return value;
  } catch (error) {
    if (error instanceof TooDeepError) throw new UnreadableError(`the watch sent an event that ${error.message}`);
    // The error below says enough.
  }
  throw notAnEvent();
}

function objectEvent(type: unknown, result: DecodeResult): WatchEvent {
  if (type === 'ADDED' || type === 'MODIFIED') return { type: 'present', result };
  if (type === 'DELETED') return { type: 'deleted', result };
  throw notAnEvent();
}

function bookmarkEvent(bookmark: Bookmark | undefined): WatchEvent {
  if (!bookmark) throw notAnEvent();
  return { type: 'bookmark', bookmark };
}

function errorOf(object: Uint8Array): Error {
  const status = decodeStatus(object);
  return status ? errorFromStatus(status) : notAnEvent();
}

function notAnEvent(): UnreadableError {
  return new UnreadableError('the watch sent something that is not an event');
}

function tooLong(): UnreadableError {
  return new UnreadableError(`the watch sent an event that is longer than ${MAX_LINE_BYTES >> 20} MiB`);
}

function cutOff(): UnreadableError {
  return new UnreadableError('the watch ended in the middle of an event');
}
