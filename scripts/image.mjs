// node scripts/image.mjs FOLDER: puts into FOLDER what an image needs to run kube-proxy, and nothing else.
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { buildProgram, program } from './build.mjs';
import { root } from './setup.mjs';

const [folder] = process.argv.slice(2);
if (!folder) {
  console.error('usage: node scripts/image.mjs FOLDER');
  process.exit(2);
}
await buildProgram();
mkdirSync(folder, { recursive: true });
cpSync(program, `${folder}/kube-proxy.mjs`);
cpSync(`${root}LICENSE`, `${folder}/LICENSE`);
writeFileSync(
  `${folder}/kube-proxy`,
  '#!/usr/bin/env -S node --max-semi-space-size=1 --no-memory-reducer\nawait import("./kube-proxy.mjs");\n',
);
chmodSync(`${folder}/kube-proxy`, 0o755);
writeFileSync(`${folder}/package.json`, '{ "type": "module" }\n');

// koffi is not in the bundle, because it has a native part. The native part is a package of its own for each platform.
// The package koffi also has sources, which the program does not load: they are left out.
copy('node_modules/koffi', path => /(\.c?js|package\.json|LICENSE\.txt)$/.test(path));
const { optionalDependencies } = JSON.parse(readFileSync(`${root}node_modules/koffi/package.json`, 'utf8'));
for (const name of Object.keys(optionalDependencies)) {
  if (existsSync(`${root}node_modules/${name}`)) copy(`node_modules/${name}`);
}

/**
 * @param {string} path in the checkout, and in the folder
 * @param {(file: string) => boolean} isNeeded
 */
function copy(path, isNeeded = () => true) {
  cpSync(`${root}${path}`, `${folder}/${path}`, {
    recursive: true,
    filter: file => statSync(file).isDirectory() || isNeeded(file),
  });
}
