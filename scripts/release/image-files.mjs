// The files of the images, in layers. Layers that change less often come first, so that a node which has an older image
// downloads only the last one.
import { readFileSync } from 'node:fs';
import { root } from '../setup.mjs';
import { readDeb } from './deb.mjs';
import { licenseTexts } from './licenses.mjs';
import { readLock } from './lock.mjs';
import { BUSYBOX_COMMANDS, DEFAULT_PACKAGES, SLIM_PACKAGES } from './packages.mjs';
import { NODE_FLAGS } from './program.mjs';
import { debianPackage } from './sources.mjs';
import { directory, file, symlink, withParents } from './tar.mjs';

/**
 * @typedef {import('./tar.mjs').Entry} Entry
 * @typedef {'pointsman' | 'pointsman-slim'} ImageName
 * @typedef {{ readonly name: string, readonly version: string, readonly licenses: readonly string[] }} DebianComponent
 * @typedef {{ readonly files: readonly Entry[], readonly packages: readonly DebianComponent[] }} System
 */

/** @type {readonly ImageName[]} */
export const IMAGE_NAMES = ['pointsman', 'pointsman-slim'];

/** Where the program is. */
const HOME = 'usr/local/lib/pointsman';

/** All folders of programs and libraries are in /usr. Packages may still name the old places. */
const USR_LINKS = ['bin', 'sbin', 'lib', 'lib64'];

const FOLDERS = ['dev', 'proc', 'run', 'sys', 'root', 'usr/lib/modules', 'usr/lib64', 'var/lib/kube-proxy', 'var/log'];

/** What nobody needs in an image: documents, translations, character sets, start-up scripts, settings of other programs. */
const UNUSED = [
  /^(etc|var|usr\/share)\//,
  /^usr\/lib\/[^/]+\/(gconv|audit)\//,
  /^usr\/lib\/(init|locale|systemd|tmpfiles\.d)\//,
];

/** What is kept although it is in one of these folders. Packages of one source may share a folder of documents. */
const USED = [
  /^etc\/(debian_version|ethertypes|os-release|protocols|rpc|services)$/,
  /^usr\/share\/doc\/[^/]+(\/copyright)?$/,
];

/**
 * Packages of which an image has only these files, and the copyright.
 * @type {Readonly<Record<string, RegExp>>}
 */
const ONLY = { coreutils: /^usr\/bin\/env$/, 'base-files': /^(usr\/lib|etc)\/(os-release|debian_version)$/ };

const ACCOUNTS = [
  file('etc/passwd', 'root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/usr/sbin/nologin\n'),
  file('etc/group', 'root:x:0:\nnogroup:x:65534:\n'),
  file('etc/nsswitch.conf', 'passwd: files\ngroup: files\nhosts: files dns\n'),
];

const IPTABLES_NAMES = ['iptables', 'ip6tables'].flatMap(name => [name, `${name}-save`, `${name}-restore`]);

/**
 * The part of an image that comes from Debian.
 * @param {ImageName} image
 * @param {import('./lock.mjs').Architecture} architecture
 * @returns {Promise<System>}
 */
export async function systemFiles(image, architecture) {
  const pins = readLock().debian.packages[architecture];
  /** @type {Map<string, Entry>} */
  const files = new Map();
  /** @type {Map<string, string>} */
  const versions = new Map();
  for (const name of image === 'pointsman' ? DEFAULT_PACKAGES : SLIM_PACKAGES) {
    const pin = pins[name];
    if (!pin) throw new Error(`The lock has no Debian package ${name}`);
    const { control, files: own } = readDeb(await debianPackage(name, pin));
    for (const entry of own.map(inUsr)) if (isKept(name, entry)) files.set(entry.path, entry);
    // Scanners read this folder if an image has no package manager.
    files.set(`var/lib/dpkg/status.d/${name}`, file(`var/lib/dpkg/status.d/${name}`, control));
    versions.set(name, pin.version);
  }
  const fixed = [
    ...USR_LINKS.map(name => symlink(name, `usr/${name}`)),
    ...FOLDERS.map(path => directory(path)),
    directory('tmp', 0o1777),
    symlink('var/run', '/run'),
    ...ACCOUNTS,
    ...(image === 'pointsman' ? busyboxLinks(files) : []),
  ];
  for (const entry of fixed) files.set(entry.path, entry);
  const packages = [...versions].map(([name, version]) => ({ name, version, licenses: licensesOf(name, files) }));
  return { files: withParents([...files.values()]), packages };
}

/**
 * @param {import('./program.mjs').Platform} platform
 * @returns {readonly Entry[]}
 */
export function nodeFiles({ node, nodeLicense }) {
  return withParents([file('usr/local/bin/node', node, 0o755), file('usr/local/share/doc/node/LICENSE', nodeLicense)]);
}

/**
 * @param {ImageName} image
 * @param {import('./program.mjs').Platform} platform
 * @param {import('./program.mjs').Program} program
 * @returns {readonly Entry[]}
 */
export function programFiles(image, { koffi }, { source, npmPackages }) {
  const first = `#!/usr/bin/env -S /usr/local/bin/node ${NODE_FLAGS.join(' ')}\n`;
  const own = [
    file(`${HOME}/kube-proxy`, Buffer.concat([Buffer.from(first), source]), 0o755),
    file(`${HOME}/koffi.node`, koffi),
    file(`${HOME}/LICENSE`, readFileSync(`${root}LICENSE`)),
    file(`${HOME}/LICENSES`, licenseTexts(npmPackages)),
    symlink('usr/local/bin/kube-proxy', '../lib/pointsman/kube-proxy'),
    symlink('usr/bin/kube-proxy', '../local/lib/pointsman/kube-proxy'),
  ];
  if (image !== 'pointsman') return withParents(own);
  const script = (/** @type {string} */ name) => readFileSync(`${root}deploy/image/${name}`);
  return withParents([
    ...own,
    file('go-runner', script('go-runner'), 0o755),
    file(`${HOME}/iptables-chooser`, script('iptables-chooser'), 0o755),
    ...IPTABLES_NAMES.map(name => symlink(`usr/sbin/${name}`, '../local/lib/pointsman/iptables-chooser')),
  ]);
}

/**
 * @param {Entry} entry
 * @returns {Entry}
 */
function inUsr(entry) {
  const move = (/** @type {string} */ path) => (USR_LINKS.includes(path.split('/', 1)[0] ?? '') ? `usr/${path}` : path);
  const path = move(entry.path);
  return entry.type === 'hardlink' ? { ...entry, path, target: move(entry.target) } : { ...entry, path };
}

/**
 * @param {string} name
 * @param {Entry} entry
 */
function isKept(name, { type, path }) {
  if (type === 'directory' || USR_LINKS.includes(path)) return false;
  if (USED.some(pattern => pattern.test(path))) return true;
  return ONLY[name]?.test(path) ?? !UNUSED.some(pattern => pattern.test(path));
}

/** @param {ReadonlyMap<string, Entry>} files */
function busyboxLinks(files) {
  return BUSYBOX_COMMANDS.map(name => `usr/bin/${name}`)
    .filter(path => !files.has(path))
    .map(path => symlink(path, 'busybox'));
}

/**
 * The licences that the package's copyright file names, in Debian's words.
 * @param {string} name
 * @param {ReadonlyMap<string, Entry>} files
 * @returns {readonly string[]}
 */
function licensesOf(name, files) {
  const folder = files.get(`usr/share/doc/${name}`);
  if (folder?.type === 'symlink') return licensesOf(folder.target, files);
  const copyright = files.get(`usr/share/doc/${name}/copyright`);
  if (copyright?.type !== 'file') throw new Error(`The Debian package ${name} has no copyright`);
  const text = copyright.content.toString();
  const names = [/^License:[ \t]*(\S.*)$/gm, /\/usr\/share\/common-licenses\/([\w-]+(?:\.\d+)?)/g].flatMap(pattern =>
    [...text.matchAll(pattern)].map(([, found = '']) => found.trim()),
  );
  return names.length > 0 ? [...new Set(names)].sort() : ['see its copyright file'];
}
