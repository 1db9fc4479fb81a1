// The images that the cluster and its tests use, in one archive, without a registry. The programs are built from the
// same source as those of the real images. The system around them is Debian.
import { spawnSync } from 'node:child_process';
import { existsSync, lstatSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { cacheFolder } from '../go-program.mjs';
import { plainLayer, writeImages } from '../release/oci.mjs';
import { directory, file, symlink, withParents, writeTar } from '../release/tar.mjs';
import { root } from '../setup.mjs';
import { debianArchive, debianSystem } from './debian.mjs';
import { KUBERNETES_VERSION } from './programs.mjs';

/**
 * @typedef {Readonly<Record<string, string>>} Programs
 * @typedef {import('../release/tar.mjs').Entry} Entry
 * @typedef {import('../release/oci.mjs').Layer} Layer
 */

const TEST_IMAGES = 'registry.k8s.io/e2e-test-images/';
const ARCHITECTURE = process.arch === 'arm64' ? 'arm64' : 'amd64';

/**
 * Writes the archive if a program is newer than it. Its name has a number that changes with this file.
 * @param {Programs} programs
 * @returns {string} its path
 */
export function imagesOfCluster(programs) {
  const path = `${cacheFolder()}/conformance-kubernetes-${KUBERNETES_VERSION}/images-2.oci.tar`;
  const newest = Math.max(...Object.values(programs).map(program => statSync(program).mtimeMs));
  if (existsSync(path) && statSync(path).mtimeMs > newest) return path;
  console.error('Writing the images of the cluster');
  writeFileSync(`${path}.${process.pid}`, writeImages(images(programs), 0));
  renameSync(`${path}.${process.pid}`, path);
  return path;
}

/**
 * The names and tags are those that the tests of this version of Kubernetes ask for.
 * @param {Programs} programs
 * @returns {readonly import('../release/oci.mjs').Image[]}
 */
function images(programs) {
  const debian = plainLayer(debianArchive());
  const testing = [debian, layer(agnhostFiles(programs))];
  const alone = (/** @type {string} */ name) => [layer([program(name, programs)])];
  const serveHttp = ['netexec', '--http-port=80'];
  return [
    image('registry.k8s.io/pause:3.10.2', alone('pause'), ['/pause']),
    image('registry.k8s.io/coredns/coredns:conformance', alone('coredns'), ['/coredns']),
    image(`${TEST_IMAGES}regression-issue-74839:1.4`, alone('regression-issue-74839'), ['/regression-issue-74839']),
    image(`${TEST_IMAGES}busybox:1.37.0-1`, [layer(busyboxFiles())], [], ['sh']),
    image(`${TEST_IMAGES}agnhost:2.63.0`, testing, ['/agnhost'], ['pause']),
    // The tests only want a server that answers at port 80.
    ...['1.15-4', '1.27-0'].map(tag => image(`${TEST_IMAGES}nginx:${tag}`, testing, ['/agnhost'], serveHttp)),
    image(`${TEST_IMAGES}glibc-dns-testing:2.0.0`, [debian], [], ['sh']),
    image('registry.k8s.io/build-image/distroless-iptables:v0.9.6', [debian], [], ['sh']),
    image(
      `registry.k8s.io/kube-proxy:${KUBERNETES_VERSION}`,
      [debian, layer(proxyFiles(programs))],
      [],
      ['kube-proxy'],
    ),
  ];
}

/**
 * @param {string} reference
 * @param {readonly Layer[]} layers
 * @param {readonly string[]} entrypoint
 * @param {readonly string[]} command
 */
function image(reference, layers, entrypoint, command = []) {
  return {
    reference,
    time: 0,
    annotations: {},
    entrypoint,
    command,
    platforms: [{ architecture: ARCHITECTURE, layers }],
  };
}

/** @param {readonly Entry[]} entries */
function layer(entries) {
  return plainLayer(writeTar(withParents(entries), 0));
}

/**
 * @param {string} name
 * @param {Programs} programs
 */
function program(name, programs, folder = '') {
  return file(`${folder}${name}`, readFileSync(programs[name] ?? ''), 0o755);
}

/** @param {Programs} programs */
function proxyFiles(programs) {
  return [program('kube-proxy', programs, 'usr/local/bin/')];
}

function busyboxFiles() {
  const busybox = `${debianSystem()}/bin/busybox`;
  return [
    file('bin/busybox', readFileSync(busybox), 0o755),
    file('etc/passwd', 'root:x:0:0:root:/root:/bin/sh\n'),
    directory('tmp', 0o1777),
    directory('root'),
    ...busyboxCommands().map(name => symlink(`bin/${name}`, 'busybox')),
  ];
}

/** @param {Programs} programs */
function agnhostFiles(programs) {
  const source = `${sourceOfKubernetes()}/test/images/agnhost/porter`;
  const folders = ['bin', 'sbin', 'usr/bin', 'usr/sbin'];
  // A link that leads nowhere from here leads to a program inside of the image.
  const isInDebian = (/** @type {string} */ name) =>
    folders.some(folder => lstatSync(`${debianSystem()}/${folder}/${name}`, { throwIfNoEntry: false }));
  return [
    program('agnhost', programs),
    program('coredns', programs),
    symlink('agnhost-2', 'agnhost'),
    // busybox's wget, which the real image has, tries once.
    file('etc/wgetrc', 'tries = 1\n'),
    ...['localhost.crt', 'localhost.key'].map(name => file(name, readFileSync(`${source}/${name}`))),
    directory('uploads'),
    ...busyboxCommands()
      .filter(name => !isInDebian(name))
      .map(name => symlink(`usr/bin/${name}`, '/bin/busybox')),
  ];
}

function busyboxCommands() {
  const { stdout } = spawnSync(`${debianSystem()}/bin/busybox`, ['--list'], { encoding: 'utf8' });
  return stdout.split('\n').filter(name => name !== '' && name !== 'busybox');
}

/** Go keeps the source that it built the programs from. */
function sourceOfKubernetes() {
  const { status, stdout, stderr } = spawnSync('go', ['list', '-m', '-f', '{{.Dir}}', 'k8s.io/kubernetes'], {
    cwd: `${root}test/conformance/programs/kubernetes`,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`go list: ${stderr}`);
  return stdout.trim();
}
