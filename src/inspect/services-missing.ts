import { objectKey, objectName, type Service } from '../api/index.ts';
import { Breaks } from '../lib/breaks.ts';
import { goQuote } from '../lib/go-quote.ts';
import { nearest } from '../lib/nearest.ts';

const CHUNK = 64;

/** Says that there is no such Service, and which one the operator may have meant, or why the proxy may not know it. */
export async function missingServiceText(key: string, services: Iterable<Service>): Promise<string> {
  const meant = await similarKey(key, services);
  const advice = meant === undefined ? 'a proxy does not watch headless Services' : `did you mean ${meant}?`;
  return `there is no Service ${goQuote(key)}: ${advice}`;
}

/**
 * The nearest name of the same namespace, or the same name in another one. It looks at all Services, so it takes breaks.
 */
async function similarKey(key: string, services: Iterable<Service>): Promise<string | undefined> {
  const { namespace, name } = objectName(key);
  const breaks = new Breaks();
  let elsewhere: string | undefined;
  let best: string | undefined;
  let chunk: string[] = [];
  for (const { metadata } of services) {
    if (breaks.isDue) await breaks.take();
    if (metadata.name === name) elsewhere ??= objectKey(metadata);
    if (metadata.namespace !== namespace) continue;
    chunk.push(metadata.name);
    if (chunk.length < CHUNK) continue;
    best = nearest(name, best === undefined ? chunk : [best, ...chunk]);
    chunk = [];
  }
  best = nearest(name, best === undefined ? chunk : [best, ...chunk]);
  return best === undefined ? elsewhere : objectKey({ namespace, name: best });
}
