import { compareTexts } from '../../lib/compare-texts.ts';

const SAMPLE = /^(\w+)\{(.*)\} (\S+)$/gm;
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g;

/**
 * Rewrites the samples of a metric as Go's client writes them: labels sorted, the bound of a bucket last and in Go's
 * number format. Prometheus compares bounds as text when it sums over nodes, and some nodes may run another kube-proxy.
 */
export function toGoFormat(family: string): string {
  return family.replaceAll(SAMPLE, (_, name: string, labels: string, value: string) => {
    const pairs = [...labels.matchAll(LABEL)].map(([text, label = '', value = '']) => ({ text, label, value }));
    const plain = pairs.filter(({ label }) => label !== 'le').sort((a, b) => compareTexts(a.label, b.label));
    const bounds = pairs.filter(({ label }) => label === 'le').map(bound => `le="${goNumber(bound.value)}"`);
    return `${name}{${[...plain.map(({ text }) => text), ...bounds].join(',')}} ${value}`;
  });
}

/** Go writes an exponent from a million on: `1.048576e+06`. */
function goNumber(text: string): string {
  if (!/^\d{7,}$/.test(text)) return text;
  const [mantissa = '', exponent = ''] = Number(text).toExponential().split('e+');
  return `${mantissa}e+${exponent.padStart(2, '0')}`;
}
