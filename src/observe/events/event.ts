import { randomUUID } from 'node:crypto';
import { printableLines } from '../../lib/printable.ts';
import { shorten, shortenToBytes } from '../../lib/shorten.ts';

/** The object that an Event is about, or a related object. */
export interface ObjectReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string | undefined;
  readonly uid?: string | undefined;
}

export interface EventContent {
  readonly type: 'Normal' | 'Warning';
  /** The cause, in one word: `FailedToStartServiceHealthcheck`. */
  readonly reason: string;
  /** What the proxy was doing: `Listen`. */
  readonly action: string;
  readonly regarding: ObjectReference;
  readonly related?: ObjectReference | undefined;
  /** The text for the operator. */
  readonly note: string;
}

/** The program that writes the Events. */
export interface Reporter {
  /** `kube-proxy` */
  readonly controller: string;
  /** `kube-proxy-<host name>` */
  readonly instance: string;
}

export interface EventSeries {
  readonly count: number;
  readonly lastObservedTime: string;
}

/** An object of events.k8s.io/v1. */
export interface Event {
  readonly kind: 'Event';
  readonly apiVersion: 'events.k8s.io/v1';
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly eventTime: string;
  readonly series?: EventSeries | undefined;
  readonly reportingController: string;
  readonly reportingInstance: string;
  readonly action: string;
  readonly reason: string;
  readonly regarding: ObjectReference;
  readonly related?: ObjectReference | undefined;
  readonly note: string;
  readonly type: 'Normal' | 'Warning';
}

/** The API server refuses longer notes and names. */
const MAX_NOTE_BYTES = 1024;
const MAX_NAME_LENGTH = 253;
const DNS_SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** A reference to the Node. It has no UID, like that in upstream's first Event. */
export function nodeReference(name: string): ObjectReference {
  return { apiVersion: 'v1', kind: 'Node', name };
}

export function serviceReference(service: {
  name: string;
  namespace: string;
  uid?: string | undefined;
}): ObjectReference {
  const { name, namespace, uid } = service;
  return { apiVersion: 'v1', kind: 'Service', name, namespace, uid };
}

/** The name contains `nanoseconds` (since 1970), which make it unique. */
export function newEvent(content: EventContent, { controller, instance }: Reporter, nanoseconds: bigint): Event {
  const { type, reason, action, note } = content;
  const regarding = bounded(content.regarding);
  const related = content.related && bounded(content.related);
  return {
    kind: 'Event',
    apiVersion: 'events.k8s.io/v1',
    metadata: { name: eventName(regarding.name, nanoseconds), namespace: regarding.namespace || 'default' },
    eventTime: microTime(nanoseconds),
    reportingController: controller,
    reportingInstance: instance,
    action,
    reason,
    regarding,
    related,
    note: shortenToBytes(printableLines(note), MAX_NOTE_BYTES),
    type,
  };
}

/** RFC 3339 with six digits, as the API's MicroTime requires. */
export function microTime(nanoseconds: bigint): string {
  const micros = nanoseconds / 1000n;
  const seconds = new Date(Number(micros / 1000n)).toISOString().slice(0, 19);
  return `${seconds}.${String(micros % 1_000_000n).padStart(6, '0')}Z`;
}

/** Two Events with the same key are one Event that occurred twice. */
export function eventKey(content: EventContent): string {
  const { type, reason, action, regarding, related } = content;
  return JSON.stringify([type, reason, action, reference(regarding), reference(related)]);
}

function reference(object: ObjectReference | undefined): readonly (string | undefined)[] {
  return object ? [object.apiVersion, object.kind, object.namespace, object.name, object.uid] : [];
}

function eventName(object: string, nanoseconds: bigint): string {
  const name = `${object}.${nanoseconds.toString(16)}`;
  return name.length <= MAX_NAME_LENGTH && DNS_SUBDOMAIN.test(name) ? name : randomUUID();
}

/** No object of an API server has a longer name. */
function bounded(object: ObjectReference): ObjectReference {
  const { namespace, name, uid } = object;
  return {
    ...object,
    name: shorten(name, MAX_NAME_LENGTH),
    namespace: namespace && shorten(namespace, MAX_NAME_LENGTH),
    uid: uid && shorten(uid, MAX_NAME_LENGTH),
  };
}
