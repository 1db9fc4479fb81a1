/** Reads the first line of comma-separated values, as Go's encoding/csv does. An empty text has no values. */
export function parseCsv(text: string): readonly string[] {
  if (text === '') return [];
  const line = text.replace(/^(?:\r?\n)+/, '');
  if (line === '') throw new Error('EOF');
  const fields: string[] = [];
  for (let at = 0; ; ) {
    const { field, end } = line[at] === '"' ? quotedField(line, at) : bareField(line, at);
    fields.push(field);
    if (line[end] !== ',') return fields;
    at = end + 1;
  }
}

interface Field {
  readonly field: string;
  /** The offset of the comma, the line break or the end of the text after the field. */
  readonly end: number;
}

function bareField(line: string, start: number): Field {
  const [field = ''] = /^[^,\n]*/.exec(line.slice(start)) ?? [];
  const quote = field.indexOf('"');
  if (quote >= 0) throw parseError(start + quote, 'bare " in non-quoted-field');
  return { field: field.replace(/\r$/, ''), end: start + field.length };
}

function quotedField(line: string, start: number): Field {
  const [raw, inside] = /^"((?:[^"]|"")*)"(?=,|\r?\n|$)/.exec(line.slice(start)) ?? [];
  if (raw === undefined || inside === undefined)
    throw parseError(badQuoteOffset(line, start), 'extraneous or missing " in quoted-field');
  return { field: inside.replaceAll('""', '"'), end: start + raw.length };
}

/** Returns the offset that Go reports: that of a quote inside the field, or the end of the text. */
function badQuoteOffset(line: string, start: number): number {
  const [closed] = /^"(?:[^"]|"")*"/.exec(line.slice(start)) ?? [];
  return closed === undefined ? line.length : start + closed.length - 1;
}

function parseError(at: number, reason: string): Error {
  return new Error(`parse error on line 1, column ${at + 1}: ${reason}`);
}

/** Writes values as one line that `parseCsv` can read. */
export function formatCsv(values: readonly string[]): string {
  return values.map(value => (needsQuotes(value) ? `"${value.replaceAll('"', '""')}"` : value)).join(',');
}

function needsQuotes(value: string): boolean {
  return value === '\\.' || /[,"\r\n]/.test(value) || /^\s/.test(value);
}
