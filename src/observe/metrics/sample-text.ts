const SAMPLE = /^(\w+)\{(.*)\} (\S+)$/gm;
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g;

/**
 * Lines of a metric with labels by name, a bucket's bound last and written as Go does: bounds are text to those who sum
 * them up over nodes, of which some may run another kube-proxy, and people search for lines as they know them.
 */
export function inGoForm(family: string): string {
  return family.replaceAll(SAMPLE, (_, name: string, labels: string, value: string) => {
    const pairs = [...labels.matchAll(LABEL)].map(([text, label = '', is = '']) => ({ text, label, is }));
    const plain = pairs.filter(({ label }) => label !== 'le').sort((a, b) => (a.label < b.label ? -1 : 1));
    const bounds = pairs.filter(({ label }) => label === 'le').map(({ is }) => `le="${goNumber(is)}"`);
    return `${name}{${[...plain.map(({ text }) => text), ...bounds].join(',')}} ${value}`;
  });
}

/** From a million on with an exponent: `1.048576e+06`. */
function goNumber(text: string): string {
  if (!/^\d{7,}$/.test(text)) return text;
  const [mantissa = '', exponent = ''] = Number(text).toExponential().split('e+');
  return `${mantissa}e+${exponent.padStart(2, '0')}`;
}
