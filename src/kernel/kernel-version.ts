/** Whether a version of the kernel is before another. A text that is not a version counts as new. */
export function isOlderKernel(version: string, [major, minor]: readonly [major: number, minor: number]): boolean {
  const [, ownMajor, ownMinor] = /^(\d+)\.(\d+)/.exec(version) ?? [];
  if (ownMajor === undefined) return false;
  return Number(ownMajor) < major || (Number(ownMajor) === major && Number(ownMinor) < minor);
}
