import { pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { StreamBody, type StreamBodyOptions } from './stream-body.ts';

type Headers = Readonly<Record<string, string | undefined>>;

export function plainHeaders(headers: Readonly<Record<string, string | string[] | undefined>>): Headers {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]),
  );
}

/** The body as it was before it was compressed. */
export function openBody(stream: Readable, headers: Headers, options: StreamBodyOptions): StreamBody {
  if (headers['content-encoding'] !== 'gzip') return new StreamBody(stream, options);
  const gunzip = createGunzip();
  // Errors of either come out of the last one.
  pipeline(stream, gunzip, () => {});
  const cancel = () => {
    options.cancel();
    gunzip.destroy();
  };
  return new StreamBody(gunzip, { ...options, cancel });
}
