import { parseIp } from '../net/index.ts';

/** An endpoint with weight 0 gets no new connections. */
const MAX_WEIGHT = 1000;

/** `3`, from 0 to 1000. */
export function parseWeight(text: string): number | undefined {
  return /^\d{1,4}$/.test(text) && Number(text) <= MAX_WEIGHT ? Number(text) : undefined;
}

/** `10.0.0.1=3,10.0.0.2=1`, by canonical address. */
export function parseWeights(text: string): ReadonlyMap<string, number> | undefined {
  return parseList(text, parseIp);
}

/** `zone-a=3,zone-b=1` */
export function parseZoneWeights(text: string): ReadonlyMap<string, number> | undefined {
  return parseList(text, zone => (zone === '' ? undefined : zone));
}

function parseList(
  text: string,
  parseName: (text: string) => string | undefined,
): ReadonlyMap<string, number> | undefined {
  const weights = new Map<string, number>();
  for (const item of text.split(',')) {
    const at = item.indexOf('=');
    const name = at < 0 ? undefined : parseName(item.slice(0, at).trim());
    const weight = parseWeight(item.slice(at + 1).trim());
    if (name === undefined || weight === undefined) return undefined;
    weights.set(name, weight);
  }
  return weights;
}
