import { objectKey, objectName, type Service } from '../api/index.ts';
import { Breaks } from '../lib/breaks.ts';
import { goQuote } from '../lib/go-quote.ts';
import { nearest } from '../lib/nearest.ts';

const CHUNK = 64;

/** Says that there is no such Service, and which one the operator may have meant. */
export async function missingServiceText(key: string, services: Iterable<Service>): Promise<string> {
  const meant = await similarKey(key, services);
  return `there is no Service ${goQuote(key)}${meant === undefined ? '' : `: did you mean ${meant}?`}`;
}

/** The same name in another namespace, or the nearest name. It looks at all Services, so it takes breaks. */
async function similarKey(key: string, services: Iterable<Service>): Promise<string | undefined> {
  const { name } = objectName(key);
  const breaks = new Breaks();
  const best: string[] = [];
  let chunk: string[] = [];
  for (const { metadata } of services) {
    if (metadata.name === name) return objectKey(metadata);
    chunk.push(objectKey(metadata));
    if (chunk.length < CHUNK) continue;
    best.push(...nearestIn(key, chunk));
    chunk = [];
    if (breaks.isDue) await breaks.take();
  }
  return nearest(key, [...best, ...nearestIn(key, chunk)]);
}

function nearestIn(key: string, chunk: readonly string[]): readonly string[] {
  const found = nearest(key, chunk);
  return found === undefined ? [] : [found];
}
