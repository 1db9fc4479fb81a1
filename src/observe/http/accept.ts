/** One of the forms of an answer that a caller takes. */
export interface MediaRange {
  readonly type: string;
  readonly subtype: string;
  /** Without `q`, and without those that have no value. */
  readonly parameters: ReadonlyMap<string, string>;
}

/** The forms that an Accept header names: what is liked best comes first, among those what is most particular. */
export function parseAccept(accept: string): readonly MediaRange[] {
  return accept
    .split(',')
    .filter(part => part.trim() !== '')
    .map(parseRange)
    .sort((a, b) => b.quality - a.quality || wildness(a) - wildness(b));
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

function wildness({ type, subtype }: MediaRange): number {
  return (type === '*' ? 2 : 0) + (subtype === '*' ? 1 : 0);
}

function splitOnce(text: string): readonly string[] {
  const index = text.indexOf('=');
  return index < 0 ? [text] : [text.slice(0, index).trim(), text.slice(index + 1).trim()];
}
