// The images of a release.
import { IMAGE_NAMES, nodeFiles, programFiles, systemFiles } from './image-files.mjs';
import { ARCHITECTURES, readLock } from './lock.mjs';
import { makeLayer, writeImage } from './oci.mjs';
import { imageSbom } from './sbom.mjs';

const DESCRIPTIONS = {
  pointsman: 'Pointsman, a kube-proxy. Runs every mode that the kernel allows.',
  'pointsman-slim': 'Pointsman, a kube-proxy. Runs nftables mode. Has no shell.',
};

/**
 * @param {import('./program.mjs').Program} program
 * @returns {AsyncGenerator<readonly [name: string, content: Buffer]>} the files of the release
 */
export async function* imageArtefacts(program) {
  const { platforms, time, version } = program;
  // With the time of the commit these layers would differ in every release, and every node would download them again.
  const { time: lockTime } = readLock();
  const nodeLayers = Object.fromEntries(
    ARCHITECTURES.map(architecture => [architecture, makeLayer(nodeFiles(platforms[architecture]), lockTime)]),
  );
  for (const name of IMAGE_NAMES) {
    const built = [];
    for (const architecture of ARCHITECTURES) {
      const system = await systemFiles(name, architecture);
      const nodeLayer = nodeLayers[architecture];
      if (!nodeLayer) throw new Error(`There is no Node for ${architecture}`);
      const own = makeLayer(programFiles(name, platforms[architecture], program), time);
      built.push({ architecture, system, layers: [makeLayer(system.files, lockTime), nodeLayer, own] });
    }
    const image = { reference: `${name}:${version}`, time, annotations: annotationsOf(name, program) };
    const archive = writeImage({ ...image, command: ['/usr/local/bin/kube-proxy'], platforms: built });
    yield [`${name}-${version}.oci.tar`, archive];
    yield [`${name}-${version}.cdx.json`, imageSbom(name, program, built)];
  }
}

/**
 * @param {import('./image-files.mjs').ImageName} name
 * @param {import('./program.mjs').Program} program
 */
function annotationsOf(name, { version, revision, time }) {
  const values = {
    title: name,
    description: DESCRIPTIONS[name],
    version,
    revision,
    created: new Date(time * 1000).toISOString(),
    licenses: 'Apache-2.0',
  };
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [`org.opencontainers.image.${key}`, value]));
}
