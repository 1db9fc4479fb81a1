/** The path and the query of a request. */
export interface RequestTarget {
  /** Without the query, and with escapes decoded. `/metrics` and `/metrics/` are two paths. */
  readonly path: string;
  /** Without the query, as the caller sent it. */
  readonly rawPath: string;
  /** Everything after the question mark. Undefined if there is none. */
  readonly rawQuery: string | undefined;
}

const SCHEME_AND_HOST = /^[a-z][a-z0-9+.-]*:\/\/[^/?]*/i;
const BAD_ESCAPE = /%(?![0-9a-f]{2})/i;

/** Ignores scheme and host, which a caller behind a proxy sends too. Undefined if the target is malformed. */
export function parseTarget(text: string): RequestTarget | undefined {
  const local = text.replace(SCHEME_AND_HOST, '');
  const mark = local.indexOf('?');
  const rawPath = mark < 0 ? local : local.slice(0, mark);
  if (BAD_ESCAPE.test(rawPath)) return undefined;
  return { path: decode(rawPath), rawPath, rawQuery: mark < 0 ? undefined : local.slice(mark + 1) };
}

function decode(rawPath: string): string {
  try {
    return decodeURIComponent(rawPath);
  } catch {
    // The bytes are not UTF-8. No page has such a path.
    return rawPath;
  }
}
