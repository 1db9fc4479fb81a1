import { ASSETS, type Asset } from 'pointsman:page-assets';
import type { HttpAnswer, HttpRequest } from '../observe/http/index.ts';

const BY_PATH: ReadonlyMap<string, Asset> = new Map(ASSETS.map(asset => [asset.path, asset]));

/** Everything below `/v1` is a question. */
export function isFile(path: string): boolean {
  return path !== '/v1' && !path.startsWith('/v1/');
}

/** Undefined if the page has no such file. */
export function answerAsset({ path, headers }: HttpRequest): HttpAnswer | undefined {
  const asset = BY_PATH.get(path);
  if (!asset) return undefined;
  const { type, etag, gzip, brotli } = asset;
  const common = { ETag: etag, 'Cache-Control': 'no-cache', Vary: 'Accept-Encoding' };
  if (headers['if-none-match'] === etag) return { status: 304, headers: common, body: '' };
  const isBrotli = /\bbr\b/.test(String(headers['accept-encoding'] ?? ''));
  return {
    status: 200,
    headers: { ...common, 'Content-Type': type, 'Content-Encoding': isBrotli ? 'br' : 'gzip' },
    body: Buffer.from(isBrotli ? brotli : gzip, 'base64'),
  };
}
