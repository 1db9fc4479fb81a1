/**
 * Resource versions of one resource are whole numbers, and a later change has the larger one. Undefined if a server
 * gives other texts: they have no order.
 */
export function isOlderVersion(one: string, other: string): boolean | undefined {
  return isNumber(one) && isNumber(other) ? BigInt(one) < BigInt(other) : undefined;
}

/** Whether everything up to the wanted version is there. A text that is no number reaches only itself. */
export function reachesVersion(reached: string | undefined, wanted: string): boolean {
  if (reached === undefined) return false;
  return reached === wanted || isOlderVersion(reached, wanted) === false;
}

/** The newest of the versions. Undefined if there is none, or if they have no order. */
export function newestVersion(versions: Iterable<string>): string | undefined {
  let newest: string | undefined;
  for (const version of versions) {
    if (newest === undefined || newest === version) newest = version;
    else {
      const isOlder = isOlderVersion(newest, version);
      if (isOlder === undefined) return undefined;
      if (isOlder) newest = version;
    }
  }
  return newest;
}

function isNumber(text: string): boolean {
  return /^\d{1,40}$/.test(text);
}
