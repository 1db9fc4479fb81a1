import { type ApiResponse, beginning } from '../index.ts';
import { UnreadableError } from './unreadable-error.ts';

export type Encoding = 'protobuf' | 'json';

/** Enough to know a login page by. */
const MOST_SHOWN = 80;

/** How the body of an answer is written. Rejects if that is no way of an API server, or not one of ours. */
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
        `the server answered as ${contentType}, which cannot be read: correct acceptContentTypes`,
      );
    default:
      throw new UnreadableError(await foreignAnswer(response, contentType));
  }
}

async function foreignAnswer(response: ApiResponse, contentType: string): Promise<string> {
  const shown = await beginning(response, MOST_SHOWN);
  const found = `${contentType || 'without a content type'}${shown && `: ${shown}`}`;
  const cause = 'a proxy or a login page is likely, check the server’s address and its proxies';
  return `something other than an API server answered (${found}): ${cause}`;
}
