/** 1 ms, 2 ms, 4 ms … 16 s. */
export const DOUBLING_SECONDS: readonly number[] = Array.from({ length: 15 }, (_, i) => (1 << i) / 1000);

/**
 * Seconds from the change of an endpoint to its rules. Fine steps up to a minute, coarse steps above. Negative
 * durations, from clocks that differ, fall into the first bucket.
 */
export const PROGRAMMING_SECONDS: readonly number[] = [
  0,
  0.25,
  0.5,
  ...steps(1, 1, 59),
  ...steps(60, 5, 12),
  ...steps(120, 30, 7),
];

/** Durations of requests to the API server. */
export const REQUEST_SECONDS: readonly number[] = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];

/** 64 bytes, 256, 512, 1 KiB, 4 KiB … 16 MiB. */
export const REQUEST_BYTES: readonly number[] = [64, 256, 512, ...Array.from({ length: 8 }, (_, i) => 1024 * 4 ** i)];

export const LAG_SECONDS: readonly number[] = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

/** 1, 4, 16 … 65536. */
export const OBJECT_COUNTS: readonly number[] = Array.from({ length: 9 }, (_, i) => 4 ** i);

function steps(first: number, step: number, count: number): number[] {
  return Array.from({ length: count }, (_, i) => first + i * step);
}
