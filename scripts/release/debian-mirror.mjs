// Where Debian packages come from.
import { spawnSync } from 'node:child_process';

/** @typedef {'debian' | 'debian-security'} Archive */

/**
 * The archive of a suite or of the path of a package.
 * @param {string} name `trixie-security`, or `pool/updates/main/…`
 * @returns {Archive}
 */
export function archiveOf(name) {
  return name.endsWith('-security') || name.startsWith('pool/updates/') ? 'debian-security' : 'debian';
}

/**
 * The address of an archive without a slash at its end: of DEBIAN_MIRROR, or of this machine's apt.
 * @param {Archive} archive
 */
export function mirrorOf(archive) {
  const { DEBIAN_MIRROR: mirror, DEBIAN_SECURITY_MIRROR: security } = process.env;
  const named = archive === 'debian' ? mirror : (security ?? mirror?.replace(/\/debian\/?$/, '/debian-security'));
  const address = named ?? addressesOfApt().find(uri => new URL(uri).pathname.replaceAll('/', '') === archive);
  if (!address) {
    throw new Error(
      `apt of this machine knows no mirror of the archive ${archive}. Set DEBIAN_MIRROR and DEBIAN_SECURITY_MIRROR`,
    );
  }
  return address.replace(/\/$/, '');
}

/** apt prints what an update would download, and downloads nothing. */
function addressesOfApt() {
  const { stdout } = spawnSync('apt-get', ['update', '--print-uris'], { encoding: 'utf8' });
  return [...new Set([...(stdout ?? '').matchAll(/^'(https?:[^']+)\/dists\//gm)].map(([, address = '']) => address))];
}
