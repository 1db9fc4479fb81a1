/** One of the media types that a caller accepts: `text/*;version=1.0.0`. */
export interface MediaRange {
  readonly type: string;
  readonly subtype: string;
  /** Without `q`, and without parameters that have no value. */
  readonly parameters: ReadonlyMap<string, string>;
}

/** The media types of an Accept header, in the order of preference. Among equals those without wildcards come first. */
export function parseAccept(accept: string): readonly MediaRange[] {
  return accept
    .split(',')
    .filter(part => part.trim() !== '')
    .map(parseRange)
    .sort((a, b) => b.quality - a.quality || wildcardRank(a) - wildcardRank(b));
}

function parseRange(text: string): MediaRange & { readonly quality: number } {
  const [name = '', ...rest] = text.split(';').map(part => part.trim());
  const [type = '', subtype = type === '*' ? '*' : ''] = name.split('/');
  const parameters = new Map<string, string>();
  for (const part of rest) {
    const [key = '', value = ''] = splitOnce(part);
    if (value !== '') parameters.set(key, value);
  }
  const quality = Number.parseFloat(parameters.get('q') ?? '1');
  parameters.delete('q');
  return { type, subtype, parameters, quality: Number.isNaN(quality) ? 1 : quality };
}

function wildcardRank({ type, subtype }: MediaRange): number {
  return (type === '*' ? 2 : 0) + (subtype === '*' ? 1 : 0);
}

function splitOnce(text: string): readonly string[] {
  const index = text.indexOf('=');
  return index < 0 ? [text] : [text.slice(0, index).trim(), text.slice(index + 1).trim()];
}
