import { type DecodeResult, decodeObject, decodeProtobufObject, ListBody } from '../../api/index.ts';
import { isRecord } from '../../lib/is-record.ts';
import { TooDeepError } from '../../lib/nesting.ts';
import { parseJson } from '../../lib/parse-json.ts';
import type { ApiResponse } from '../index.ts';
import { encodingOf, UnreadableError } from './encoding.ts';
import type { Resource } from './resource.ts';

/** What the answer to a list says besides its objects. */
export interface ListPage {
  readonly resourceVersion: string;
  /** Empty on the last page. */
  readonly continueToken: string;
}

/** A list in JSON is one text in memory. A string of JavaScript can be at most twice as long as this. */
const MAX_JSON_BYTES = 256 << 20;

type Emit = (result: DecodeResult) => void;

/** Emits each object of a list as soon as it is complete. Rejects if the answer is not a list of the resource. */
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
  const isOfResource = () => list.type.kind === `${kind}List`;
  const emitItem = (item: Uint8Array) => {
    if (isOfResource()) emit(decodeProtobufObject(item, kind));
  };
  for await (const chunk of body) {
    list.push(chunk, emitItem);
    if (list.broken) throw notAList();
  }
  if (!list.complete || !isOfResource()) throw notAList();
  return list;
}

async function readJson({ body }: ApiResponse, { kind, apiVersion }: Resource, emit: Emit): Promise<ListPage> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > MAX_JSON_BYTES) throw tooLong();
  }
  const list = parseFields(Buffer.concat(chunks).toString('utf8'));
  const items = list.items ?? [];
  if (list.kind !== `${kind}List` || !Array.isArray(items)) throw notAList();
  for (const item of items) emit(decodeObject(item, { kind, apiVersion }));
  const metadata = isRecord(list.metadata) ? list.metadata : {};
  return { resourceVersion: textOf(metadata.resourceVersion), continueToken: textOf(metadata.continue) };
}

type Fields = Readonly<Record<string, unknown>>;

function parseFields(text: string): Fields {
  try {
    const value = parseJson(text);
    if (isRecord(value)) return value;
  } catch (error) {
    if (error instanceof TooDeepError) throw new UnreadableError(`the list ${error.message}`);
    // The error below says enough.
  }
  throw notAList();
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function tooLong(): UnreadableError {
  const max = `${MAX_JSON_BYTES >> 20} MiB`;
  return new UnreadableError(`the list is longer than ${max}, too long for JSON: set contentType to protobuf`);
}

function notAList(): UnreadableError {
  return new UnreadableError('the answer to the list request is not a list');
}
