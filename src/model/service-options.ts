import {
  ANNOTATION_BALANCE,
  ANNOTATION_EJECT_AFTER,
  ANNOTATION_ENDPOINT_END,
  ANNOTATION_GRACE,
  ANNOTATION_HASH_BY,
  ANNOTATION_SLOW_START,
  ANNOTATION_WEIGHTS,
  ANNOTATION_ZONE_WEIGHTS,
  type ObjectMeta,
} from '../api/index.ts';
import { sameMap } from '../lib/same-map.ts';
import { parseWeights, parseZoneWeights } from './weights.ts';

/** How a connection gets its endpoint. */
export const ALGORITHMS = ['random', 'round-robin', 'least-connections', 'consistent-hash', 'weighted'] as const;
export type Algorithm = (typeof ALGORITHMS)[number];

/** What a consistent hash is made of. */
const HASH_INPUTS = ['client-address', 'client-address-and-port'] as const;
export type HashInput = (typeof HASH_INPUTS)[number];

/** What happens to the connections of an endpoint that is gone. */
const ENDPOINT_ENDS = ['drain', 'reset', 'drain-then-reset'] as const;

/** What a Service asks for with annotations: how its connections are balanced, and how they end. */
export interface ServiceOptions {
  /** Undefined: the default of the proxy. */
  readonly algorithm: Algorithm | undefined;
  readonly hashBy: HashInput;
  /** By address of an endpoint. */
  readonly weights: ReadonlyMap<string, number> | undefined;
  /** By zone of an endpoint. */
  readonly zoneWeights: ReadonlyMap<string, number> | undefined;
  /** 0: a new endpoint gets its whole share at once. */
  readonly slowStartSeconds: number;
  /** After how many seconds the connections of an endpoint that is gone are ended. Undefined: never. */
  readonly resetAfterSeconds: number | undefined;
  /** After how many failed connections in a row an endpoint is left out. 0: never. */
  readonly ejectAfter: number;
}

/** The options of a Service without annotations. */
const DEFAULT_OPTIONS: ServiceOptions = {
  algorithm: undefined,
  hashBy: 'client-address',
  weights: undefined,
  zoneWeights: undefined,
  slowStartSeconds: 0,
  resetAfterSeconds: undefined,
  ejectAfter: 0,
};

const DEFAULT_GRACE_SECONDS = 30;
const MAX_SECONDS = 86_400;
const MAX_FAILURES = 1000;

/** Reports an annotation that is left out. `wanted` completes "is not". */
type ReportAnnotation = (annotation: string, text: string, wanted: string) => void;

/** Services without any of the annotations share one object. */
export function readServiceOptions({ annotations }: ObjectMeta, report: ReportAnnotation): ServiceOptions {
  const reader = new AnnotationReader(annotations, report);
  const options: ServiceOptions = {
    algorithm: reader.choice(ANNOTATION_BALANCE, ALGORITHMS),
    hashBy: reader.choice(ANNOTATION_HASH_BY, HASH_INPUTS) ?? DEFAULT_OPTIONS.hashBy,
    weights: reader.parse(
      ANNOTATION_WEIGHTS,
      parseWeights,
      'a list such as 10.0.0.1=3,10.0.0.2=1 with weights from 0 to 1000',
    ),
    zoneWeights: reader.parse(
      ANNOTATION_ZONE_WEIGHTS,
      parseZoneWeights,
      'a list such as zone-a=3,zone-b=1 with weights from 0 to 1000',
    ),
    slowStartSeconds: reader.number(ANNOTATION_SLOW_START, MAX_SECONDS) ?? 0,
    resetAfterSeconds: readEnd(reader),
    ejectAfter: reader.number(ANNOTATION_EJECT_AFTER, MAX_FAILURES) ?? 0,
  };
  return sameOptions(options, DEFAULT_OPTIONS) ? DEFAULT_OPTIONS : options;
}

function readEnd(reader: AnnotationReader): number | undefined {
  const grace = reader.number(ANNOTATION_GRACE, MAX_SECONDS) ?? DEFAULT_GRACE_SECONDS;
  const end = reader.choice(ANNOTATION_ENDPOINT_END, ENDPOINT_ENDS) ?? 'drain';
  if (end === 'drain') return undefined;
  return end === 'reset' ? 0 : grace;
}

export function sameOptions(a: ServiceOptions, b: ServiceOptions): boolean {
  return (
    a === b ||
    (a.algorithm === b.algorithm &&
      a.hashBy === b.hashBy &&
      sameMap(a.weights, b.weights) &&
      sameMap(a.zoneWeights, b.zoneWeights) &&
      a.slowStartSeconds === b.slowStartSeconds &&
      a.resetAfterSeconds === b.resetAfterSeconds &&
      a.ejectAfter === b.ejectAfter)
  );
}

class AnnotationReader {
  readonly #annotations: ObjectMeta['annotations'];
  readonly #report: ReportAnnotation;

  constructor(annotations: ObjectMeta['annotations'], report: ReportAnnotation) {
    this.#annotations = annotations;
    this.#report = report;
  }

  choice<T extends string>(annotation: string, choices: readonly T[]): T | undefined {
    const wanted = `${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}`;
    return this.parse(annotation, text => choices.find(choice => choice === text), wanted);
  }

  number(annotation: string, max: number): number | undefined {
    return this.parse(annotation, text => wholeNumber(text, max), `a whole number from 0 to ${max}`);
  }

  parse<T>(annotation: string, parse: (text: string) => T | undefined, wanted: string): T | undefined {
    const text = this.#annotations[annotation];
    if (text === undefined) return undefined;
    const value = parse(text.trim());
    if (value === undefined) this.#report(annotation, text, wanted);
    return value;
  }
}

function wholeNumber(text: string, max: number): number | undefined {
  return /^\d{1,9}$/.test(text) && Number(text) <= max ? Number(text) : undefined;
}
