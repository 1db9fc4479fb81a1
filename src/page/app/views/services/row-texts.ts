import type { EndpointCounts, ServiceRow } from '../../../../inspect/index.ts';
import { durationWords } from '../../../../lib/duration-words.ts';

/** More are counted. A Service may have hundreds of ports. */
const MAX_SHOWN = 2;

/** `3/4`, or `3/4 2/4` if the families differ. */
export function endpointsText(endpoints: readonly EndpointCounts[]): string {
  const texts = endpoints.map(({ used, all }) => `${used}/${all}`);
  return texts.length === 0 ? '–' : [...new Set(texts)].join(' ');
}

export function endpointsTitle(endpoints: readonly EndpointCounts[]): string {
  return endpoints.map(({ family, used, all }) => `${family}: uses ${used} of ${all}`).join('; ');
}

/** `10.96.0.10 +1`, `80/TCP 443/TCP` */
export function shortList(texts: readonly string[]): string {
  const rest = texts.length - MAX_SHOWN;
  return `${texts.slice(0, MAX_SHOWN).join(' ')}${rest > 0 ? ` +${rest}` : ''}`;
}

/** `0.4`, `27`, `1,340` */
export function rateText(rate: number): string {
  if (rate === 0) return '0';
  return rate < 9.95 ? rate.toFixed(1) : Math.round(rate).toLocaleString('en');
}

/** A change that the history no longer has is older than all that it has. */
export function olderText(historySince: number | undefined, now: number): string {
  return historySince === undefined ? '–' : `> ${durationWords(Math.max(0, now - historySince) / 1000)}`;
}

/** For the title of a row: everything that has no room. */
export function rowTitle({ addresses, ports, reasons }: ServiceRow, foundBy = ''): string {
  return [addresses.join(', '), ports.join(', '), foundBy, ...reasons].filter(Boolean).join('\n');
}
