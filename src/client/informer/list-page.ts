import { type DecodeResult, decodeObject, decodeProtobufObject, ListBody } from '../../api/index.ts';
import type { ApiResponse } from '../index.ts';
import { encodingOf } from './encoding.ts';
import type { Resource } from './resource.ts';
import { UnreadableError } from './unreadable-error.ts';

/** What an answer to a list says besides its objects. */
export interface ListPage {
  readonly resourceVersion: string;
  /** Not empty if there is more to ask for. */
  readonly continueToken: string;
}

/** A list in JSON is held as a whole; a text may be no longer than twice this. */
const LONGEST_JSON = 256 << 20;

type Emit = (result: DecodeResult) => void;

/** Reads an answer to a list, and hands over each object as soon as it is complete. Rejects if it is no such list. */
export async function readListPage(response: ApiResponse, resource: Resource, emit: Emit): Promise<ListPage> {
  switch (await encodingOf(response)) {
    case 'protobuf':
      return readProtobuf(response, resource, emit);
    case 'json':
      return readJson(response, resource, emit);
  }
}

async function readProtobuf({ body }: ApiResponse, { kind }: Resource, emit: Emit): Promise<ListPage> {
  const list = new ListBody();
  const isWanted = () => list.type.kind === `${kind}List`;
  const take = (item: Uint8Array) => {
    if (isWanted()) emit(decodeProtobufObject(item, kind));
  };
  for await (const chunk of body) {
    list.push(chunk, take);
    if (list.broken) throw noList();
  }
  if (!list.complete || !isWanted()) throw noList();
  return list;
}

async function readJson({ body }: ApiResponse, { kind, apiVersion }: Resource, emit: Emit): Promise<ListPage> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > LONGEST_JSON) throw tooLong();
  }
  const list = parseFields(Buffer.concat(chunks).toString('utf8'));
  const items = list.items ?? [];
  if (list.kind !== `${kind}List` || !Array.isArray(items)) throw noList();
  for (const item of items) emit(decodeObject(item, { kind, apiVersion }));
  const metadata = isFields(list.metadata) ? list.metadata : {};
  return { resourceVersion: textOf(metadata.resourceVersion), continueToken: textOf(metadata.continue) };
}

type Fields = Readonly<Record<string, unknown>>;

function parseFields(text: string): Fields {
  try {
    const value: unknown = JSON.parse(text);
    if (isFields(value)) return value;
  } catch {
    // Told below, as other values that are no list are.
  }
  throw noList();
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function tooLong(): UnreadableError {
  const most = `${LONGEST_JSON >> 20} MiB`;
  return new UnreadableError(`the list is longer than ${most}, too long for JSON: ask for protobuf (contentType)`);
}

function noList(): UnreadableError {
  return new UnreadableError('the answer to the list cannot be read');
}
