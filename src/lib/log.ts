import { basename } from 'node:path';

export type Severity = 'I' | 'W' | 'E';

export type Fields = Readonly<Record<string, unknown>>;

/** Writes log lines as klog does: `I1115 09:30:00.000000    1234 proxy.ts] "Message" key="value"`. */
export class Logger {
  readonly #write: (line: string) => void;
  readonly #now: () => Date;

  constructor(write: (line: string) => void, now: () => Date = () => new Date()) {
    this.#write = write;
    this.#now = now;
  }

  info(source: string, message: string, fields: Fields = {}): void {
    this.#log('I', source, message, fields);
  }

  warning(source: string, message: string, fields: Fields = {}): void {
    this.#log('W', source, message, fields);
  }

  error(source: string, message: string, fields: Fields = {}): void {
    this.#log('E', source, message, fields);
  }

  #log(severity: Severity, source: string, message: string, fields: Fields): void {
    const now = this.#now();
    const two = (number: number) => String(number).padStart(2, '0');
    const date = `${two(now.getMonth() + 1)}${two(now.getDate())}`;
    const time = `${two(now.getHours())}:${two(now.getMinutes())}:${two(now.getSeconds())}`;
    const micros = `${String(now.getMilliseconds()).padStart(3, '0')}000`;
    const pairs = Object.entries(fields).filter(([, value]) => value !== undefined);
    const text = pairs.map(([key, value]) => ` ${key}=${valueText(value)}`).join('');
    const place = `${String(process.pid).padStart(7)} ${basename(source)}`;
    this.#write(`${severity}${date} ${time}.${micros} ${place}] ${JSON.stringify(message)}${text}\n`);
  }
}

function valueText(value: unknown): string {
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : JSON.stringify(value);
}
