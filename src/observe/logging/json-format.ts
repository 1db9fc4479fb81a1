import { printableJson } from '../../lib/printable.ts';
import { type Entry, jsonOf, placeOf, splitFields, textOf } from './entry.ts';

/** One object a line: `{"ts":1763199000000,"caller":"proxy.ts:42","msg":"Message","v":0,"key":"value"}`. */
export function jsonLine(entry: Entry): string {
  const { severity, level, source, message, form, fields, time } = entry;
  const pairs: [string, unknown][] = [
    ['ts', time],
    ['caller', placeOf(source)],
    ['msg', message],
  ];
  // As in klog, errors have no verbosity, and warnings are information of verbosity 0.
  if (severity !== 'E') pairs.push(['v', level]);
  const { err, others } = splitFields(fields);
  if (form === 'structured') pairs.push(...others);
  if (form === 'structured' && err !== undefined) pairs.push(['err', err]);
  return `{${pairs.map(([key, value]) => `${JSON.stringify(key)}:${valueText(value)}`).join(',')}}\n`;
}

function valueText(value: unknown): string {
  const text = textOf(value);
  return text === undefined ? jsonOf(value) : printableJson(JSON.stringify(text));
}
