export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface MetricFamily {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  readonly samples: readonly Sample[];
}

const NAME = /[a-zA-Z_:][a-zA-Z0-9_:]*/;
const SAMPLE = new RegExp(`^(${NAME.source})(?:\\{(.*)\\})? (NaN|[+-]Inf|-?[0-9.]+(?:e[+-]?[0-9]+)?)$`);
const LABEL = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\n"])*)"(?:,|$)/;

/**
 * Parses the text format of Prometheus strictly. Every family has HELP, TYPE and its samples, in this order, once. No
 * sample comes twice. Histograms are cumulative and end in +Inf. Throws at the first line that breaks a rule.
 */
export function parsePrometheusText(text: string): Map<string, MetricFamily> {
  if (!text.endsWith('\n')) throw new Error('the last line has no line end');
  const families = new Map<string, MetricFamily>();
  const lines = text.slice(0, -1).split('\n');
  for (let at = 0; at < lines.length; ) {
    const [, name = '', help = ''] = matched(/^# HELP (\S+) (.+)$/, lines[at++]);
    const [, typed = '', type = ''] = matched(/^# TYPE (\S+) (counter|gauge|histogram)$/, lines[at++]);
    if (typed !== name) throw new Error(`TYPE of ${typed} after HELP of ${name}`);
    if (families.has(name)) throw new Error(`${name} comes twice`);
    const samples: Sample[] = [];
    for (; at < lines.length && !lines[at]?.startsWith('#'); at++) samples.push(parseSample(lines[at]));
    const family = { name, type, help, samples };
    checkSamples(family);
    families.set(name, family);
  }
  return families;
}

function matched(pattern: RegExp, line: string | undefined): RegExpExecArray {
  const match = pattern.exec(line ?? '');
  if (!match) throw new Error(`unexpected line: ${line}`);
  return match;
}

function parseSample(line: string | undefined): Sample {
  const [, name = '', labelText = '', value = ''] = matched(SAMPLE, line);
  const labels: Record<string, string> = {};
  for (let rest = labelText; rest !== ''; ) {
    const [whole, label = '', text = ''] = matched(LABEL, rest);
    if (label in labels) throw new Error(`the label ${label} comes twice: ${line}`);
    labels[label] = text.replaceAll(/\\(.)/g, (_, escaped) => (escaped === 'n' ? '\n' : escaped));
    rest = rest.slice(whole.length);
  }
  return { name, labels, value: Number(value.replace('Inf', 'Infinity')) };
}

function checkSamples({ name, type, samples }: MetricFamily): void {
  if (samples.length === 0) throw new Error(`${name} has no samples`);
  const seen = new Set<string>();
  for (const sample of samples) {
    const plain = type === 'histogram' ? sample.name.replace(/_(bucket|sum|count)$/, '') : sample.name;
    if (plain !== name) throw new Error(`${sample.name} among ${name}`);
    const key = sample.name + JSON.stringify(Object.entries(sample.labels).sort());
    if (seen.has(key)) throw new Error(`${key} comes twice`);
    seen.add(key);
  }
  if (type === 'histogram') checkBuckets(name, samples);
}

function checkBuckets(name: string, samples: readonly Sample[]): void {
  const series = new Map<string, Sample[]>();
  for (const sample of samples) {
    const { le: _, ...labels } = sample.labels;
    const key = JSON.stringify(Object.entries(labels).sort());
    series.set(key, [...(series.get(key) ?? []), sample]);
  }
  for (const members of series.values()) {
    const buckets = members.filter(member => member.name === `${name}_bucket`);
    const bounds = buckets.map(({ labels }) => Number(labels.le?.replace('Inf', 'Infinity')));
    const sorted = bounds.every((bound, i) => i === 0 || bound > (bounds[i - 1] ?? 0));
    const counts = buckets.map(({ value }) => value);
    const cumulative = counts.every((count, i) => i === 0 || count >= (counts[i - 1] ?? 0));
    const count = members.find(member => member.name === `${name}_count`)?.value;
    if (!sorted || !cumulative || bounds.at(-1) !== Number.POSITIVE_INFINITY || counts.at(-1) !== count) {
      throw new Error(`the buckets of ${name} are not cumulative`);
    }
    if (!members.some(member => member.name === `${name}_sum`)) throw new Error(`${name} has no sum`);
  }
}
