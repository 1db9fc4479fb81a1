import { nearest } from '../../../../lib/nearest.ts';

/** The name of the same namespace that is most alike, or the same name in another namespace. */
export function similarService(service: string, known: Iterable<string>): string | undefined {
  const slash = service.indexOf('/') + 1;
  const namespace = service.slice(0, slash);
  const name = service.slice(slash);
  const names: string[] = [];
  let elsewhere: string | undefined;
  for (const key of known) {
    if (key.startsWith(namespace)) names.push(key.slice(slash));
    else if (elsewhere === undefined && key.endsWith(`/${name}`)) elsewhere = key;
  }
  const similar = nearest(name, names);
  return similar === undefined ? elsewhere : `${namespace}${similar}`;
}
