import { goQuote } from '../../lib/go-quote.ts';
import { printableLines } from '../../lib/printable.ts';
import { shorten } from '../../lib/shorten.ts';
import { MAX_TEXT_LENGTH } from './bounds.ts';
import { type Entry, jsonOf, placeOf, splitFields, textOf } from './entry.ts';

/** A line in klog's format: `I1115 09:30:00.000000    1234 proxy.ts:42] "Message" key="value"`. */
export function textLine(entry: Entry): string {
  const { severity, source, form, fields, time } = entry;
  const message = shorten(entry.message, MAX_TEXT_LENGTH);
  const head = `${severity}${timeText(new Date(time))} ${PID} ${placeOf(source)}] `;
  if (form === 'plain') return `${head}${printableLines(withoutLastBreak(message))}\n`;
  const { err, others } = splitFields(fields);
  let line = head + goQuote(message);
  if (err !== undefined) line += ` err${valueText(err)}`;
  for (const [key, value] of others) line += ` ${key}${valueText(value)}`;
  return `${line}\n`;
}

const PID = String(process.pid).padStart(7);

function timeText(time: Date): string {
  const two = (number: number) => String(number).padStart(2, '0');
  const date = `${two(time.getMonth() + 1)}${two(time.getDate())}`;
  const clock = `${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}`;
  return `${date} ${clock}.${String(time.getMilliseconds()).padStart(3, '0')}000`;
}

/** `="text"`, `=3` or `={"a":1}`. A text of several lines is between `=<` and ` >`. */
function valueText(value: unknown): string {
  const text = textOf(value);
  return text === undefined ? `=${jsonOf(value)}` : stringText(text);
}

function stringText(text: string): string {
  if (!text.includes('\n')) return `=${goQuote(text)}`;
  const lines = printableLines(withoutLastBreak(text)).split('\n');
  return `=<\n${lines.map(line => `\t${line}\n`).join('')} >`;
}

function withoutLastBreak(text: string): string {
  return text.endsWith('\n') ? text.slice(0, -1) : text;
}
