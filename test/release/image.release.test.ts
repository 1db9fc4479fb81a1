import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { readElf } from './elf.ts';
import { type Architecture, ImageArchive, type ImageName } from './image-archive.ts';
import { readReleaseFile } from './release-files.ts';

const IMAGES: readonly ImageName[] = ['pointsman', 'pointsman-slim'];
const MACHINES: Readonly<Record<Architecture, number>> = { amd64: 62, arm64: 183 };
const ARCHITECTURES = Object.keys(MACHINES) as Architecture[];
const archives = new Map<ImageName, ImageArchive>();

function archiveOf(name: ImageName): ImageArchive {
  const archive = archives.get(name) ?? new ImageArchive(name);
  archives.set(name, archive);
  return archive;
}

describe('the archives of the images', () => {
  test('REL-3 an archive has one index with both architectures, and names the image', () => {
    for (const name of IMAGES) {
      const archive = archiveOf(name);
      const platforms = archive.index.manifests.map(({ platform }) => `${platform?.os}/${platform?.architecture}`);
      assert.deepEqual(platforms, ['linux/amd64', 'linux/arm64']);
      assert.equal(archive.top.manifests.length, 1);
      assert.match(
        archive.top.manifests[0]?.annotations?.['org.opencontainers.image.ref.name'] ?? '',
        /^pointsman.*:\d/,
      );
    }
  });

  test('REL-3 labels say what the image is, and its command is kube-proxy', () => {
    for (const name of IMAGES) {
      for (const architecture of ARCHITECTURES) {
        const { architecture: own, config } = archiveOf(name).configuration(architecture);
        assert.equal(own, architecture);
        assert.deepEqual([config.Entrypoint, config.Cmd], [undefined, ['/usr/local/bin/kube-proxy']]);
        assert.equal(config.Labels['org.opencontainers.image.title'], name);
        assert.match(config.Labels['org.opencontainers.image.revision'] ?? '', /^[0-9a-f]{40}$/);
        for (const key of ['version', 'created', 'licenses', 'description']) {
          assert.ok(config.Labels[`org.opencontainers.image.${key}`], key);
        }
      }
    }
  });

  test('REL-3 the layers of Debian and Node do not depend on the commit', () => {
    const { time } = JSON.parse(readFileSync('scripts/release/lock.json', 'utf8'));
    for (const name of IMAGES) assert.deepEqual(archiveOf(name).layerTimes('amd64').slice(0, 2), [time, time]);
  });

  test('REL-4 every program of both architectures finds its libraries in the image', () => {
    for (const name of IMAGES) {
      for (const architecture of ARCHITECTURES) {
        const files = archiveOf(name).files(architecture);
        const names = new Set([...files.keys()].map(path => path.slice(path.lastIndexOf('/') + 1)));
        for (const entry of files.values()) {
          const elf = entry.type === 'file' ? readElf(entry.content) : undefined;
          if (!elf) continue;
          assert.equal(elf.machine, MACHINES[architecture], entry.path);
          const missing = elf.needed.filter(library => !names.has(library));
          assert.deepEqual(missing, [], `${name} ${architecture} ${entry.path}`);
        }
      }
    }
  });

  test('REL-7 the slim image has no shell, no package manager, and env and node as its only programs', () => {
    for (const architecture of ARCHITECTURES) {
      const files = [...archiveOf('pointsman-slim').files(architecture).values()];
      const programs = files.filter(
        ({ path, type }) => /^(usr\/(local\/)?s?bin\/|go-runner)/.test(path) && type !== 'directory',
      );
      const names = programs.map(({ path }) => path).sort();
      assert.deepEqual(names, ['usr/bin/env', 'usr/bin/kube-proxy', 'usr/local/bin/kube-proxy', 'usr/local/bin/node']);
    }
  });

  test('REL-8 the list of components names Debian and npm packages and Node, with versions and licences', () => {
    for (const name of IMAGES) {
      const { bomFormat, components } = JSON.parse(
        readReleaseFile(new RegExp(`^${name}-\\d.*\\.cdx\\.json$`)).toString(),
      );
      assert.equal(bomFormat, 'CycloneDX');
      const refs = components.map((component: { 'bom-ref': string }) => component['bom-ref']);
      for (const ref of [
        'node',
        'npm-koffi',
        'npm-yaml',
        'npm-prom-client',
        'npm-preact',
        'deb-amd64-libc6',
        'deb-arm64-libc6',
      ]) {
        assert.ok(refs.includes(ref), ref);
      }
      for (const { version, licenses, purl } of components) {
        assert.ok(version, purl);
        assert.ok(licenses.length > 0, `${purl} has no licence`);
      }
      // A scanner finds the packages in the image, too.
      const recorded = [...archiveOf(name).files('amd64').keys()].filter(path =>
        path.startsWith('var/lib/dpkg/status.d/'),
      );
      const listed = refs.filter((ref: string) => ref.startsWith('deb-amd64-'));
      assert.equal(recorded.length, listed.length);
    }
  });
});
