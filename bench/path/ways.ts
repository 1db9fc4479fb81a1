import { OURS, type Subject } from '../scale/subjects.ts';

/** How connections reach the endpoint: by its own address, or through a Service that a program makes work in a mode. */
export interface Way {
  readonly name: string;
  readonly proxy?: { readonly subject: Subject; readonly mode: string };
}

export const DIRECT = 'direct';

/** In userspace mode the proxy has a socket for each Service, and copies all bytes. */
export const RELAYING_MODE = 'userspace';
const MOST_SERVICES_OF_RELAYING_MODE = 1000;

export function waysOf(
  ours: Subject,
  modes: readonly string[],
  upstreams: readonly Subject[],
  upstreamModes: readonly string[],
): readonly Way[] {
  const waysIn = (subject: Subject, names: readonly string[]) =>
    names.map(mode => ({ name: `${subject.name} ${mode}`, proxy: { subject, mode } }));
  return [{ name: DIRECT }, ...waysIn(ours, modes), ...upstreams.flatMap(subject => waysIn(subject, upstreamModes))];
}

/** Whether a way can have this number of Services. */
export function isPossible({ proxy }: Way, services: number): boolean {
  return proxy?.mode !== RELAYING_MODE || services <= MOST_SERVICES_OF_RELAYING_MODE;
}

/** Each of our modes beside no proxy at all, and beside the same mode of each upstream program. */
export function comparisonsOf(ways: readonly Way[]) {
  const isOurs = ({ proxy }: Way) => proxy?.subject.name === OURS;
  return ways.filter(isOurs).flatMap(way => {
    const same = ways.filter(other => !isOurs(other) && other.proxy?.mode === way.proxy?.mode);
    return [DIRECT, ...same.map(({ name }) => name)].map(theirs => ({ ours: way.name, theirs }));
  });
}
