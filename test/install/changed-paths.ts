/** The paths of all fields that differ, such as `spec.template.spec.containers.0.image`, sorted. */
export function changedPaths(former: unknown, now: unknown, path = ''): readonly string[] {
  if (isRecord(former) && isRecord(now)) {
    const names = new Set([...Object.keys(former), ...Object.keys(now)]);
    return [...names].sort().flatMap(name => changedPaths(former[name], now[name], path ? `${path}.${name}` : name));
  }
  return former === now ? [] : [path];
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
