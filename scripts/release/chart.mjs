// The Helm chart of deploy/chart with the version of the release, as `helm package` would pack it.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { root } from '../setup.mjs';
import { file, withParents, writeTar } from './tar.mjs';

const FOLDER = `${root}deploy/chart`;

/**
 * @param {string} version
 * @param {number} time in seconds since 1970
 */
export function packChart(version, time) {
  const paths = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).filter(path =>
    statSync(`${FOLDER}/${path}`).isFile(),
  );
  const [, name = ''] = /^name: *(\S+)$/m.exec(readFileSync(`${FOLDER}/Chart.yaml`, 'utf8')) ?? [];
  const files = paths.map(path => {
    const content = readFileSync(`${FOLDER}/${path}`);
    return file(`${name}/${path}`, path === 'Chart.yaml' ? withVersion(content.toString(), version) : content);
  });
  return { name: `${name}-chart-${version}.tgz`, content: gzipSync(writeTar(withParents(files), time)) };
}

/**
 * @param {string} text
 * @param {string} version
 */
function withVersion(text, version) {
  return text.replace(/^version:.*$/m, `version: ${version}`).replace(/^appVersion:.*$/m, `appVersion: "${version}"`);
}
