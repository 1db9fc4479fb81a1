// What a release is made of besides this project, with versions and checksums: scripts/release/lock.json.
import { readFileSync, writeFileSync } from 'node:fs';

/**
 * @typedef {'amd64' | 'arm64'} Architecture
 * @typedef {{ readonly version: string, readonly path: string, readonly sha256: string }} DebianPin
 * @typedef {Readonly<Record<string, DebianPin>>} DebianPins by the name of the package
 * @typedef {{ readonly version: string, readonly integrity: string }} NpmPin
 * @typedef {object} Lock
 * @property {number} time when it was renewed, in seconds since 1970
 * @property {Readonly<Record<string, NpmPin>>} npm by the name of the package
 * @property {{ readonly suite: string, readonly packages: Readonly<Record<Architecture, DebianPins>> }} debian
 */

/** @type {readonly Architecture[]} */
export const ARCHITECTURES = ['amd64', 'arm64'];

/** What Node and npm call the architectures. */
export const NODE_ARCHITECTURES = /** @type {const} */ ({ amd64: 'x64', arm64: 'arm64' });

const FILE = new URL('lock.json', import.meta.url);

/** @returns {Lock} */
export function readLock() {
  return JSON.parse(readFileSync(FILE, 'utf8'));
}

/** @param {Lock} lock */
export function writeLock(lock) {
  writeFileSync(FILE, `${JSON.stringify(lock, undefined, 2)}\n`);
}
