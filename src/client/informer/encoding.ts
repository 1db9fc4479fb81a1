import { type ApiResponse, bodyExcerpt } from '../index.ts';

export type Encoding = 'protobuf' | 'json';

/** Enough to recognise a login page. */
const MAX_EXCERPT = 80;

/** The answer is not what an API server sends. Whatever was read of it cannot be trusted. */
export class UnreadableError extends Error {
  override readonly name = 'UnreadableError';
}

/** Rejects with an UnreadableError if an API server does not send this content type, or if the proxy cannot read it. */
export async function encodingOf(response: ApiResponse): Promise<Encoding> {
  const contentType = response.headers['content-type'] ?? '';
  switch (contentType.split(';')[0]?.trim().toLowerCase()) {
    case 'application/vnd.kubernetes.protobuf':
      return 'protobuf';
    case 'application/json':
      return 'json';
    case 'application/yaml':
    case 'application/cbor':
    case 'application/cbor-seq':
      throw new UnreadableError(
        `the API server answered as ${contentType}, which the proxy cannot read: correct acceptContentTypes`,
      );
    default:
      throw new UnreadableError(await foreignAnswer(response, contentType));
  }
}

async function foreignAnswer(response: ApiResponse, contentType: string): Promise<string> {
  const excerpt = await bodyExcerpt(response, MAX_EXCERPT);
  const found = `${contentType || 'without a content type'}${excerpt && `: ${excerpt}`}`;
  const cause = 'it is probably from an HTTP proxy or a login page, check the server’s address and the HTTP proxies';
  return `the answer is not from an API server (${found}): ${cause}`;
}
