import { pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { StreamBody, type StreamBodyOptions } from './stream-body.ts';

type Headers = Readonly<Record<string, string | undefined>>;

/** Joins headers that came several times. */
export function plainHeaders(headers: Readonly<Record<string, string | string[] | undefined>>): Headers {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]),
  );
}

/** The body of a response, decompressed if the server compressed it. */
export function decodedBody(stream: Readable, headers: Headers, options: StreamBodyOptions): StreamBody {
  if (headers['content-encoding'] !== 'gzip') return new StreamBody(stream, options);
  const gunzip = createGunzip();
  // The pipeline passes an error of either stream on to `gunzip`, which the body reads.
  pipeline(stream, gunzip, () => {});
  const cancel = () => {
    options.cancel();
    gunzip.destroy();
  };
  return new StreamBody(gunzip, { ...options, cancel });
}
