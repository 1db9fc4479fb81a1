import type { ApiResponse } from '../client/index.ts';
import { UnreadableError } from './unreadable-error.ts';

export type Encoding = 'protobuf' | 'json';

/** How the body of an answer is written. */
export function encodingOf({ headers }: ApiResponse): Encoding {
  const contentType = headers['content-type'] ?? '';
  switch (contentType.split(';')[0]?.trim().toLowerCase()) {
    case 'application/vnd.kubernetes.protobuf':
      return 'protobuf';
    case 'application/json':
      return 'json';
    default: {
      const found = contentType === '' ? 'without a content type' : `as ${contentType}`;
      throw new UnreadableError(`the server answered ${found}, which cannot be read: correct acceptContentTypes`);
    }
  }
}
