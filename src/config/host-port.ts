export interface HostPort {
  readonly host: string;
  readonly port: string;
}

/** `10.0.0.1:80` or `[fd00::1]:80` cut in two, neither part checked; undefined if it cannot be cut. */
export function splitHostPort(text: string): HostPort | undefined {
  const colon = text.lastIndexOf(':');
  if (colon < 0) return undefined;
  const port = text.slice(colon + 1);
  const bracketed = text.startsWith('[');
  const host = bracketed ? text.slice(1, text.indexOf(']')) : text.slice(0, colon);
  if (bracketed && text.indexOf(']') !== colon - 1) return undefined;
  if (!bracketed && host.includes(':')) return undefined;
  return /[[\]]/.test(host + port) ? undefined : { host, port };
}
