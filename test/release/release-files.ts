import { readdirSync, readFileSync } from 'node:fs';

/** The folder with the files of the release under test. */
export function releaseFolder(): string {
  const folder = process.env.RELEASE;
  if (!folder) throw new Error('RELEASE is not set. npm run test:release sets it');
  return folder;
}

/** The path of the one file of the release that matches the pattern. */
export function releaseFile(pattern: RegExp): string {
  const found = readdirSync(releaseFolder()).filter(name => pattern.test(name));
  if (found.length !== 1) throw new Error(`the release has ${found.length} files that match ${pattern}: ${found}`);
  return `${releaseFolder()}/${found[0]}`;
}

export function readReleaseFile(pattern: RegExp): Buffer {
  return readFileSync(releaseFile(pattern));
}
