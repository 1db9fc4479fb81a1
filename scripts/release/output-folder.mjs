// The folder of a release. An operator may name any folder, so only files of a release are read and removed in it.
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const CHECKSUMS = 'SHA256SUMS';
const ARTEFACT = /^(pointsman|kube-proxy)[-_]/;

/** @param {string} folder */
function artefactsIn(folder) {
  return readdirSync(folder, { withFileTypes: true })
    .filter(entry => entry.isFile() && ARTEFACT.test(entry.name))
    .map(({ name }) => name)
    .sort();
}

/**
 * Makes the folder if it is missing, and removes the files of a former release.
 * @param {string} folder
 */
export function emptyFolder(folder) {
  mkdirSync(folder, { recursive: true });
  for (const name of [...artefactsIn(folder), CHECKSUMS]) rmSync(join(folder, name), { force: true });
}

/** @param {string} folder */
export function writeChecksums(folder) {
  const sums = artefactsIn(folder).map(name => {
    const sum = createHash('sha256').update(readFileSync(join(folder, name)));
    return `${sum.digest('hex')}  ${name}\n`;
  });
  writeFileSync(join(folder, CHECKSUMS), sums.join(''));
}
