/** What a request asks for, apart from its method. */
export interface RequestTarget {
  /** Without the query; escapes are resolved, nothing else: `/metrics` and `/metrics/` are two paths. */
  readonly path: string;
  /** The same as it was sent. */
  readonly rawPath: string;
  /** Behind the question mark; undefined if there is none. */
  readonly rawQuery: string | undefined;
}

const SCHEME_AND_HOST = /^[a-z][a-z0-9+.-]*:\/\/[^/?]*/i;
const BAD_ESCAPE = /%(?![0-9a-f]{2})/i;

/** Who sends through a proxy names the host too, which does not matter here. Undefined if it is not well formed. */
export function parseTarget(text: string): RequestTarget | undefined {
  const local = text.replace(SCHEME_AND_HOST, '');
  const mark = local.indexOf('?');
  const rawPath = mark < 0 ? local : local.slice(0, mark);
  if (BAD_ESCAPE.test(rawPath)) return undefined;
  return { path: resolved(rawPath), rawPath, rawQuery: mark < 0 ? undefined : local.slice(mark + 1) };
}

function resolved(rawPath: string): string {
  try {
    return decodeURIComponent(rawPath);
  } catch {
    // Bytes that are no text name nothing that there is.
    return rawPath;
  }
}
