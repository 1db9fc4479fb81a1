// The Debian package: the single executable, a systemd unit, and a folder for the configuration. It takes the single
// executable because that is one file, and because Debian's own nodejs may be older than the program needs.
import { readFileSync } from 'node:fs';
import { root } from '../setup.mjs';
import { writeDeb } from './deb.mjs';
import { licenseTexts } from './licenses.mjs';
import { file, withParents } from './tar.mjs';

/**
 * @param {import('./program.mjs').Program} program
 * @param {import('./lock.mjs').Architecture} architecture
 * @param {Buffer} executable
 */
export function makeDebianPackage({ version, time, npmPackages, platforms }, architecture, executable) {
  const source = (/** @type {string} */ name) => readFileSync(`${root}deploy/debian/${name}`);
  const copyright = [
    readFileSync(`${root}LICENSE`, 'utf8'),
    licenseTexts(npmPackages),
    platforms[architecture].nodeLicense.toString(),
  ];
  const files = withParents([
    file('usr/bin/kube-proxy', executable, 0o755),
    file('usr/lib/systemd/system/pointsman.service', source('pointsman.service')),
    file('etc/pointsman/config.yaml', source('config.yaml')),
    file('usr/share/doc/pointsman/copyright', copyright.join('\n----\n\n')),
  ]);
  const kilobytes = files.reduce(
    (sum, entry) => sum + Math.ceil((entry.type === 'file' ? entry.content.length : 1) / 1024),
    0,
  );
  const control = source('control')
    .toString()
    .replace('VERSION', version)
    .replace('ARCHITECTURE', architecture)
    .replace('KILOBYTES', `${kilobytes}`);
  const scripts = ['postinst', 'prerm', 'postrm'].map(name => file(name, source(name), 0o755));
  return writeDeb(
    [file('conffiles', '/etc/pointsman/config.yaml\n'), file('control', control), ...scripts],
    files,
    time,
  );
}
