import type { ApiResponse } from '../api-client.ts';

const MAX_BYTES = 256 << 10;
const MAX_TEXT = 500;

/** Ends a body that the caller does not read. Otherwise its transfer stays open. */
export async function discardBody(response: ApiResponse): Promise<void> {
  await response.body[Symbol.asyncIterator]().return?.();
}

/** The beginning of a body in one line, for messages. Reads only the first chunk. */
export async function bodyExcerpt({ body }: ApiResponse, maxCharacters: number): Promise<string> {
  for await (const chunk of body) {
    const text = plainText(chunk).replaceAll(/\s+/g, ' ');
    return text.length > maxCharacters ? `${text.slice(0, maxCharacters)}…` : text;
  }
  return '';
}

/** Reads the body up to a limit. If the body breaks off, returns what came. Never rejects. */
export async function readBounded({ body }: ApiResponse): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > MAX_BYTES) break;
    }
  } catch {
    // A part of the body is better than none, and the caller has the status.
  }
  return Buffer.concat(chunks);
}

/** The bytes as text without control characters, cut to a length that fits into a message. */
export function plainText(bytes: Uint8Array): string {
  const text = Buffer.from(bytes)
    .toString('utf8')
    .replaceAll(/\p{Cc}+/gu, ' ')
    .trim();
  return text.slice(0, MAX_TEXT);
}
