export interface HostPort {
  readonly host: string;
  readonly port: string;
}

/** A text that is not HOST:PORT. The message has Go's words: `missing port in address`. */
export class HostPortError extends Error {
  override readonly name = 'HostPortError';
}

/**
 * Cuts `10.0.0.1:80` or `[fd00::1]:80` in two, as Go's net.SplitHostPort does. Checks neither part. Throws a
 * HostPortError.
 */
export function parseHostPort(text: string): HostPort {
  const colon = text.lastIndexOf(':');
  if (colon < 0) throw new HostPortError('missing port in address');
  const port = text.slice(colon + 1);
  const host = text.startsWith('[') ? bracketedHost(text, colon) : text.slice(0, colon);
  if (!text.startsWith('[') && host.includes(':')) throw new HostPortError('too many colons in address');
  if (`${host}${port}`.includes('[')) throw new HostPortError("unexpected '[' in address");
  if (`${host}${port}`.includes(']')) throw new HostPortError("unexpected ']' in address");
  return { host, port };
}

function bracketedHost(text: string, colon: number): string {
  const end = text.indexOf(']');
  if (end < 0) throw new HostPortError("missing ']' in address");
  if (end + 1 === colon) return text.slice(1, end);
  throw new HostPortError(text[end + 1] === ':' ? 'too many colons in address' : 'missing port in address');
}

/** As `parseHostPort`, but returns undefined instead of an error. */
export function splitHostPort(text: string): HostPort | undefined {
  try {
    return parseHostPort(text);
  } catch (error) {
    if (error instanceof HostPortError) return undefined;
    throw error;
  }
}

export interface PortRange {
  readonly first: number;
  /** The last port belongs to the range. */
  readonly last: number;
}

const MAX_PORT = 65_535;

/**
 * Reads `first-last`, `first+count` or one port. Returns `any` if the text leaves the choice to the kernel, and
 * undefined if the text is not a range.
 */
export function parsePortRange(text: string): PortRange | 'any' | undefined {
  const trimmed = text.trim();
  if (['', '0', '0-0'].includes(trimmed)) return 'any';
  const [, start = '', sign, end = ''] = /^(\d{1,5})(?:([-+])(\d{1,5}))?$/.exec(trimmed) ?? [];
  if (start === '') return undefined;
  const first = Number(start);
  const last = sign === '+' ? first + Number(end) : sign === '-' ? Number(end) : first;
  return last >= first && last <= MAX_PORT ? { first, last } : undefined;
}
