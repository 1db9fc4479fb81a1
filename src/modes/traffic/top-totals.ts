import { FAMILIES, type Family } from '../../net/index.ts';
import { SUMS } from './figures.ts';
import type { TrafficFigures } from './service-port-traffic.ts';

/** Something whose traffic is shown: a service port, or an endpoint of one. */
export interface Shown<Labels> {
  readonly id: string;
  readonly family: Family;
  readonly labels: Labels;
  readonly figures: TrafficFigures;
}

/** One series: something that is named, or all others of a family together. */
export interface Series<Labels> {
  readonly family: Family;
  /** Undefined for all others. */
  readonly labels: Labels | undefined;
  readonly figures: TrafficFigures;
}

interface Known {
  readonly figures: TrafficFigures;
  /** How busy it was lately. */
  readonly recent: number;
}

type Sums = { -readonly [kind in keyof TrafficFigures]: number };

/** How much of the activity still counts at the next reading. */
const DECAY = 0.9;
/** To take the name of another service port or endpoint, one without a name must be more than this many times as busy. */
const BUSIER_FACTOR = 2;
/** Limits how many series end at one reading. */
const MAX_REPLACED = 10;

/**
 * Gives a limited number of service ports or endpoints a series by name, and sums up the others. A name stays until
 * another one is clearly busier. A named one shows its own sum. The sum of the others grows only by what they carry while
 * they have no name, so no series decreases.
 */
export class TopTotals<Labels> {
  readonly #max: number;
  #known: ReadonlyMap<string, Known> = new Map();
  #named: ReadonlySet<string> = new Set();
  readonly #others = new Map<Family, Sums>();
  #series: readonly Series<Labels>[] = [];

  constructor(max: number) {
    this.#max = max;
  }

  get series(): readonly Series<Labels>[] {
    return this.#series;
  }

  /** Takes all figures as they are now. Their sums must not decrease. */
  take(shown: readonly Shown<Labels>[]): void {
    const known = new Map(shown.map(each => [each.id, advanced(this.#known.get(each.id), each.figures)]));
    this.#named = this.#choose(known);
    const series: Series<Labels>[] = [];
    for (const others of this.#others.values()) if (others.active !== undefined) others.active = 0;
    for (const { id, family, labels, figures } of shown) {
      const isNamed = this.#named.has(id);
      if (isNamed) series.push({ family, labels, figures });
      // Something that is named adds nothing, but the sum of the others then begins at 0.
      this.#addToOthers(family, isNamed ? figures : this.#known.get(id)?.figures, figures);
    }
    for (const family of FAMILIES) {
      const figures = this.#others.get(family);
      if (figures) series.push({ family, labels: undefined, figures: { ...figures } });
    }
    this.#known = known;
    this.#series = series;
  }

  #choose(known: ReadonlyMap<string, Known>): ReadonlySet<string> {
    const byActivity = (a: [string, Known], b: [string, Known]) => b[1].recent - a[1].recent;
    const named = [...known].filter(([id]) => this.#named.has(id)).sort(byActivity);
    const candidates = [...known].filter(([id, { recent }]) => !this.#named.has(id) && recent > 0).sort(byActivity);
    const chosen = [...named, ...candidates.splice(0, this.#max - named.length)];
    for (let replaced = 0; replaced < MAX_REPLACED; replaced++) {
      const [idlest, busiest] = [named[named.length - 1], candidates[replaced]];
      if (!idlest || !busiest || busiest[1].recent <= BUSIER_FACTOR * idlest[1].recent) break;
      named.pop();
      chosen.splice(chosen.indexOf(idlest), 1, busiest);
    }
    return new Set(chosen.map(([id]) => id));
  }

  #addToOthers(family: Family, before: TrafficFigures | undefined, now: TrafficFigures): void {
    const others = this.#others.get(family) ?? {};
    this.#others.set(family, others);
    for (const kind of SUMS) {
      const value = now[kind];
      if (value !== undefined) others[kind] = (others[kind] ?? 0) + value - (before?.[kind] ?? 0);
    }
    if (now.active !== undefined) others.active = (others.active ?? 0) + (before === now ? 0 : now.active);
  }
}

function advanced(before: Known | undefined, figures: TrafficFigures): Known {
  const increase = activity(figures) - activity(before?.figures ?? {});
  return { figures, recent: (before?.recent ?? 0) * DECAY + Math.max(0, increase) + (figures.active ?? 0) };
}

function activity({ connections = 0, rejected = 0, dropped = 0 }: TrafficFigures): number {
  return connections + rejected + dropped;
}
