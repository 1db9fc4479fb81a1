/** One line of a metric in Prometheus' text format. */
export interface Sample {
  readonly name: string;
  readonly labels: ReadonlyMap<string, string>;
  readonly value: number;
}

const SAMPLE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)/;
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g;

/** Returns the samples of these metrics. Lines of other metrics may have any form. */
export function samplesOf(text: string, names: ReadonlySet<string>): readonly Sample[] {
  return text.split('\n').flatMap(line => {
    const [, name = '', labels = '', value = ''] = SAMPLE.exec(line) ?? [];
    if (!names.has(name)) return [];
    const pairs = [...labels.matchAll(LABEL)].map(([, label = '', quoted = '']) => [label, quoted] as const);
    return [{ name, labels: new Map(pairs), value: Number(value) }];
  });
}
