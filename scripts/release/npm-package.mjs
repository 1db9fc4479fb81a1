// The package for npm: a built program that starts after `npm install --global`, with koffi as its only dependency.
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { root } from '../setup.mjs';
import { licenseTexts } from './licenses.mjs';
import { bundleProgram, NODE_FLAGS } from './program.mjs';
import { file, withParents, writeTar } from './tar.mjs';

const START = `#!/usr/bin/env -S node ${NODE_FLAGS.join(' ')}\nimport '../lib/kube-proxy.mjs';\n`;

/** @param {number} time */
export async function npmTarball(time) {
  const { source, packages } = await bundleProgram({});
  const { name, version, description, license, type, engines, bin, dependencies } = JSON.parse(
    readFileSync(`${root}package.json`, 'utf8'),
  );
  const { koffi } = dependencies;
  const fields = { name, version, description, license, type, engines, os: ['linux'], bin, dependencies: { koffi } };
  const files = [
    file('package/package.json', `${JSON.stringify({ ...fields, files: ['bin', 'lib', 'LICENSES'] }, undefined, 2)}\n`),
    file('package/bin/kube-proxy', START, 0o755),
    file('package/lib/kube-proxy.mjs', source),
    file('package/README.md', readFileSync(`${root}README.md`)),
    file('package/LICENSE', readFileSync(`${root}LICENSE`)),
    file('package/LICENSES', licenseTexts(packages.filter(({ name }) => name !== 'koffi'))),
  ];
  return { name: `${name}-${version}.tgz`, content: gzipSync(writeTar(withParents(files), time)) };
}
