// A small Debian system in the cache. The images of the tests stand on it, and it has the CNI plugins of the nodes.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { cacheFolder } from '../go-program.mjs';
import { mirrorOf } from '../release/debian-mirror.mjs';
import { mayInstall } from '../setup.mjs';

const SUITE = 'bookworm';

/** What the tests run in their pods, and what upstream's kube-proxy runs. */
const PACKAGES = [
  ...['ca-certificates', 'curl', 'wget', 'netcat-openbsd', 'dnsutils', 'bind9-host', 'iproute2', 'iputils-ping'],
  ...['net-tools', 'iptables', 'nftables', 'conntrack', 'ipset', 'procps', 'openssl', 'kmod'],
  ...['busybox-static', 'containernetworking-plugins'],
];

/** What the images do not need. */
const LEFT_OUT = ['dev/*', 'usr/lib/cni', 'usr/share/doc/*', 'usr/share/locale/*', 'usr/share/man/*', 'var/cache/*'];

/** The version changes with what is in the system, so that nobody uses an old one. */
const FOLDER = `${cacheFolder()}/conformance-debian-1`;

/** @returns {string} the folder of the unpacked system */
export function debianSystem() {
  if (existsSync(FOLDER)) return FOLDER;
  if (!mayInstall) throw new Error('The conformance tests need a Debian system, and installing is turned off');
  console.error(`debootstrap makes a small Debian system in ${FOLDER}, once. That takes a minute or two.`);
  const unfinished = `${FOLDER}.${process.pid}`;
  const flags = ['--variant=minbase', `--include=${PACKAGES.join(',')}`, SUITE, unfinished, mirrorOf('debian')];
  try {
    const { status, stdout, error } = spawnSync('debootstrap', flags, {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    if (status !== 0) throw new Error(`debootstrap: ${error?.message ?? stdout.slice(-2000)}`);
    renameSync(unfinished, FOLDER);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
  return FOLDER;
}

/** The system as an archive, for a layer of an image. */
export function debianArchive() {
  const archive = `${FOLDER}.tar`;
  if (!existsSync(archive)) {
    const flags = LEFT_OUT.map(pattern => `--exclude=./${pattern}`);
    const unfinished = `${archive}.${process.pid}`;
    const { status, stderr } = spawnSync('tar', ['-C', debianSystem(), ...flags, '-cf', unfinished, '.'], {
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(`tar: ${stderr}`);
    renameSync(unfinished, archive);
  }
  return readFileSync(archive);
}
