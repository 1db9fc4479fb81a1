const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'] as const;

/** `512 B`, `1.5 KiB`, `12 MiB`. At most three digits. */
export function bytesText(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < UNITS.length - 1) {
    value /= 1024;
    unit++;
  }
  const isShort = unit > 0 && value < 9.95;
  return `${isShort ? value.toFixed(1) : Math.round(value)} ${UNITS[unit]}`;
}
