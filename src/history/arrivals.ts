import { type EndpointSlice, type KubeObject, LABEL_SERVICE_NAME, objectKey } from '../api/index.ts';
import { type Change, latestOf } from '../lib/change.ts';
import { count } from './plan-words.ts';

/** The events about one Service since the last take. */
export interface Arrival {
  readonly at: number;
  readonly elapsed: number;
  /** The object of the first event, and what happened to it. */
  readonly kind: KubeObject['kind'];
  readonly name: string;
  readonly type: Change<KubeObject>['type'];
  further: number;
}

/** Events about more Services than these are not kept. Their changes then have no cause. */
const MAX_ARRIVALS = 4096;

/** The events that no sync has taken yet. */
export class Arrivals {
  /** By Service. */
  readonly #services = new Map<string, Arrival>();

  /** Returns the Service that the event is about. */
  add(change: Change<KubeObject>, at: number, elapsed: number): string | undefined {
    const object = latestOf(change);
    const key = serviceKey(object);
    if (key === undefined) return undefined;
    const known = this.#services.get(key);
    if (known) known.further++;
    else if (this.#services.size < MAX_ARRIVALS)
      this.#services.set(key, {
        at,
        elapsed,
        kind: object.kind,
        name: object.metadata.name,
        type: change.type,
        further: 0,
      });
    return key;
  }

  get(service: string): Arrival | undefined {
    return this.#services.get(service);
  }

  keys(): Iterable<string> {
    return this.#services.keys();
  }
}

/** The Service that the object belongs to. */
function serviceKey(object: KubeObject): string | undefined {
  if (object.kind === 'Service') return objectKey(object.metadata);
  if (object.kind !== 'EndpointSlice') return undefined;
  const name = serviceNameOf(object);
  return name ? objectKey({ namespace: object.metadata.namespace, name }) : undefined;
}

function serviceNameOf({ metadata }: EndpointSlice): string | undefined {
  return metadata.labels[LABEL_SERVICE_NAME];
}

/** `EndpointSlice web-x7k updated`, `Service web added and 2 further events` */
export function arrivalText({ kind, name, type, further }: Arrival): string {
  const text = `${kind} ${name} ${type}`;
  return further === 0 ? text : `${text} and ${count(further, 'further event')}`;
}
