import type { ProxyStatus } from '../../../../inspect/index.ts';
import type { Tone } from '../service-states.ts';

const LIGHTS = ['watches', 'syncs', 'drift', 'problems'] as const;
export type LightName = (typeof LIGHTS)[number];

export interface Light {
  readonly name: LightName;
  /** What it is about. */
  readonly title: string;
  /** How it is, in a word or two. */
  readonly word: string;
  readonly tone: Exclude<Tone, 'accent'>;
}

/** A repair stays a warning this long. */
const RECENT_REPAIR_MS = 10 * 60_000;

type Finding = Pick<Light, 'word' | 'tone'>;

/** The four lights. Without a status, nothing is known. */
export function lightsOf(status: ProxyStatus | undefined, now: number): readonly Light[] {
  return [
    { name: 'watches', title: 'API watches', ...(status ? watches(status) : UNKNOWN) },
    { name: 'syncs', title: 'Syncs', ...(status ? syncs(status) : UNKNOWN) },
    { name: 'drift', title: 'Drift', ...(status ? drift(status, now) : UNKNOWN) },
    { name: 'problems', title: 'Problems', ...(status ? problems(status) : UNKNOWN) },
  ];
}

const UNKNOWN: Finding = { word: 'unknown', tone: 'quiet' };

function watches({ source, watches: all }: ProxyStatus): Finding {
  if (source === 'manifests') return { word: 'files', tone: 'good' };
  const failing = all.filter(({ problem }) => problem !== undefined).length;
  if (failing > 0) return { word: `${failing} of ${all.length} fail`, tone: 'bad' };
  const synced = all.filter(watch => watch.synced).length;
  if (synced < all.length || all.length === 0) return { word: `${synced} of ${all.length} listed`, tone: 'warn' };
  return { word: 'good', tone: 'good' };
}

function syncs({ families, healthy }: ProxyStatus): Finding {
  if (families.some(({ error }) => error !== undefined)) return { word: 'failing', tone: 'bad' };
  if (families.some(({ lastSync }) => lastSync === undefined)) return { word: 'first sync', tone: 'warn' };
  return healthy ? { word: 'good', tone: 'good' } : { word: 'late', tone: 'bad' };
}

function drift({ drift: { repairs, last } }: ProxyStatus, now: number): Finding {
  if (repairs === 0) return { word: 'none', tone: 'good' };
  const isRecent = last !== undefined && now - Date.parse(last.at) < RECENT_REPAIR_MS;
  return { word: repairs === 1 ? '1 repair' : `${repairs} repairs`, tone: isRecent ? 'warn' : 'good' };
}

function problems(status: ProxyStatus): Finding {
  const failed = status.checks.filter(({ ready }) => !ready).length;
  const count = problemCount(status);
  if (failed > 0) return { word: count > 0 ? String(count) : 'not ready', tone: 'bad' };
  return count === 0 ? { word: 'none', tone: 'good' } : { word: String(count), tone: 'warn' };
}

/**
 * Inputs that cannot be used, service ports that the kernel refused, addresses that another Service has, and a part of
 * the mode that does not serve.
 */
export function problemCount({ problems, families, condition }: ProxyStatus): number {
  const own = problems + (condition?.serving === false ? 1 : 0);
  return families.reduce((sum, { servicePorts, conflicts }) => sum + servicePorts.setAside + conflicts, own);
}
