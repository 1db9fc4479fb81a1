// The image of Pointsman for this machine: the files of a release, in layers that are not compressed.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { nodeFiles, programFiles, systemFiles } from '../release/image-files.mjs';
import { plainLayer, writeImages } from '../release/oci.mjs';
import { bundleForRelease, readPlatforms } from '../release/program.mjs';
import { writeTar } from '../release/tar.mjs';
import { root } from '../setup.mjs';

const ARCHITECTURE = process.arch === 'arm64' ? 'arm64' : 'amd64';

/** @returns {Promise<{ readonly archive: string, readonly version: string }>} */
export async function pointsmanImage() {
  const { version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));
  const { source, packages } = await bundleForRelease();
  const platforms = await readPlatforms();
  const program = { version, time: 0, revision: '', source, npmPackages: packages, platforms };
  const system = await systemFiles('pointsman', ARCHITECTURE);
  const platform = platforms[ARCHITECTURE];
  const layers = [system.files, nodeFiles(platform), programFiles('pointsman', platform, program)].map(files =>
    plainLayer(writeTar(files, 0)),
  );
  const image = { reference: `pointsman:${version}`, time: 0, annotations: {}, command: ['/usr/local/bin/kube-proxy'] };
  const archive = `${root}build/conformance-image.oci.tar`;
  mkdirSync(`${root}build`, { recursive: true });
  writeFileSync(archive, writeImages([{ ...image, platforms: [{ architecture: ARCHITECTURE, layers }] }], 0));
  return { archive, version };
}
