import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { parse } from 'yaml';
import { service, slice } from '../e2e/objects.ts';
import { ALL_SYNCED, Stage } from '../e2e/stage.ts';
import { readElf } from './elf.ts';
import { ImageArchive } from './image-archive.ts';
import { readReleaseFile, releaseFile } from './release-files.ts';

const PLAN = ['plan', '--manifests', 'examples', '--hostname-override', 'node-a', '--proxy-mode', 'nftables'];

describe('the files of a release besides the images', () => {
  let folder: string;
  /** The single executable for this machine. */
  let executable: string;

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'packages-'));
    executable = writeExecutable('amd64');
  });

  after(() => rmSync(folder, { recursive: true, force: true }));

  function writeExecutable(architecture: string): string {
    const path = `${folder}/kube-proxy-${architecture}`;
    writeFileSync(path, gunzipSync(readReleaseFile(new RegExp(`^kube-proxy-.*-linux-${architecture}\\.gz$`))));
    chmodSync(path, 0o755);
    return path;
  }

  function run(program: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): string {
    const { status, stdout, stderr, error } = spawnSync(program, args, {
      encoding: 'utf8',
      env: { ...process.env, ...env },
      maxBuffer: 64 << 20,
    });
    assert.equal(status, 0, `${program} ${args.join(' ')}: ${error?.message ?? ''}${stderr}${stdout}`);
    return stdout;
  }

  function planOfCheckout(): string {
    return run('bin/kube-proxy', PLAN);
  }

  test('REL-10 the npm package starts after a global installation, and has no tests and no sources', () => {
    const prefix = `${folder}/prefix`;
    mkdirSync(prefix);
    run('npm', [
      'install',
      '--global',
      '--no-audit',
      '--no-fund',
      '--prefix',
      prefix,
      releaseFile(/^pointsman-\d[^-]*\.tgz$/),
    ]);
    const program = `${prefix}/bin/kube-proxy`;
    assert.match(run(program, ['--version']), /^Kubernetes v1\.\d+\.\d+\n$/);
    assert.equal(run(program, PLAN), planOfCheckout());
    const installed = `${prefix}/lib/node_modules/pointsman`;
    assert.deepEqual(readdirSync(installed).sort(), [
      'LICENSE',
      'LICENSES',
      'README.md',
      'bin',
      'lib',
      'node_modules',
      'package.json',
    ]);
    assert.deepEqual(Object.keys(JSON.parse(readFileSync(`${installed}/package.json`, 'utf8')).dependencies), [
      'koffi',
    ]);
    const firstLine = (path: string) => readFileSync(path, 'utf8').split('\n')[0];
    assert.equal(firstLine(`${installed}/bin/kube-proxy`), firstLine('bin/kube-proxy'));
  });

  test('REL-11 the single executable needs no Node and leaves no file behind', () => {
    const temporary = `${folder}/temporary`;
    mkdirSync(temporary);
    const env = { PATH: '/nowhere', TMPDIR: temporary, NODE_OPTIONS: '--no-such-flag' };
    assert.match(run(executable, ['--version'], env), /^Kubernetes v1\.\d+\.\d+\n$/);
    assert.equal(run(executable, PLAN, env), planOfCheckout());
    assert.deepEqual(readdirSync(temporary), []);
  });

  test('REL-11 without a usable TMPDIR the executable uses another folder', () => {
    assert.match(run(executable, ['--version'], { TMPDIR: '/proc' }), /^Kubernetes v/);
  });

  test('REL-11 the single executable follows a cluster in nftables mode', async () => {
    const stage = await Stage.open();
    try {
      await stage.cluster.apply(service('web', '10.96.7.2'));
      await stage.cluster.apply(slice('web-1', ['10.244.1.8']));
      await stage.node.addPod('10.244.1.8');
      const proxy = stage.start({}, { command: [executable] });
      await proxy.until(ALL_SYNCED);
      assert.equal(await stage.node.ask('10.96.7.2'), '10.244.1.8');
      assert.deepEqual(await proxy.stop('SIGTERM'), { status: 0, signal: null });
    } finally {
      await stage.close();
    }
  });

  test('REL-11 the executable for arm64 runs on that processor', () => {
    const arm = writeExecutable('arm64');
    assert.equal(readElf(readFileSync(arm))?.machine, 183);
    const libraries = `${folder}/arm64`;
    mkdirSync(libraries);
    new ImageArchive('pointsman-slim').unpack('arm64', libraries);
    assert.match(run('qemu-aarch64-static', ['-L', libraries, arm, '--version']), /^Kubernetes v/);
  });

  test('REL-1 the Helm chart has the version of the release, and all files of deploy/chart', () => {
    const path = releaseFile(/^pointsman-chart-.*\.tgz$/);
    const listed = run('tar', ['--list', '--file', path])
      .split('\n')
      .filter(name => name && !name.endsWith('/'));
    const sources = readdirSync('deploy/chart', { recursive: true, withFileTypes: true });
    // Some files are links to files of deploy/monitoring. The archive has their content.
    assert.equal(listed.length, sources.filter(entry => !entry.isDirectory()).length);
    const dashboard = run('tar', ['--extract', '--to-stdout', '--file', path, 'pointsman/files/dashboard.json']);
    assert.equal(dashboard, readFileSync('deploy/monitoring/dashboard.json', 'utf8'));
    const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
    const chart = parse(run('tar', ['--extract', '--to-stdout', '--file', path, 'pointsman/Chart.yaml']));
    assert.deepEqual([chart.name, chart.version, chart.appVersion], ['pointsman', version, version]);
  });

  test('REL-12 the Debian package has the executable, a unit and a configuration that kube-proxy accepts', () => {
    for (const architecture of ['amd64', 'arm64']) {
      const path = releaseFile(new RegExp(`^pointsman_.*_${architecture}\\.deb$`));
      assert.match(
        run('dpkg-deb', ['--field', path]),
        new RegExp(`Package: pointsman\nVersion: \\d.*\nArchitecture: ${architecture}\n`),
      );
      const listed = run('dpkg-deb', ['--contents', path]);
      for (const file of [
        './usr/bin/kube-proxy',
        './usr/lib/systemd/system/pointsman.service',
        './etc/pointsman/config.yaml',
      ]) {
        assert.match(listed, new RegExp(`^-rw.* root/root .* ${file}$`, 'm'));
      }
    }
    const unpacked = `${folder}/deb`;
    run('dpkg-deb', ['--extract', releaseFile(/^pointsman_.*_amd64\.deb$/), unpacked]);
    const written = `${folder}/written.yaml`;
    run(`${unpacked}/usr/bin/kube-proxy`, [
      `--config=${unpacked}/etc/pointsman/config.yaml`,
      `--write-config-to=${written}`,
    ]);
    assert.match(readFileSync(written, 'utf8'), /^mode: nftables$/m);
  });

  test('REL-12 dpkg installs, configures and removes the Debian package', () => {
    const admin = `${folder}/dpkg`;
    for (const path of ['var/lib/dpkg/updates', 'var/lib/dpkg/info'])
      mkdirSync(`${admin}/${path}`, { recursive: true });
    writeFileSync(`${admin}/var/lib/dpkg/status`, '');
    const dpkg = ['--root', admin, '--force-depends', '--force-script-chrootless'];
    run('dpkg', [...dpkg, '--install', releaseFile(/^pointsman_.*_amd64\.deb$/)]);
    assert.ok(existsSync(`${admin}/usr/bin/kube-proxy`));
    run('dpkg', [...dpkg, '--remove', 'pointsman']);
    assert.ok(!existsSync(`${admin}/usr/bin/kube-proxy`));
    assert.ok(existsSync(`${admin}/etc/pointsman/config.yaml`), 'a configuration file outlives the package');
    run('dpkg', [...dpkg, '--purge', 'pointsman']);
    assert.ok(!existsSync(`${admin}/etc/pointsman`));
  });
});
