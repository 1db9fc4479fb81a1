// Writes images for several architectures as an OCI archive: a tar file with an index, and with manifests,
// configurations and layers as blobs. It needs no daemon and no root, and gives the same bytes each time.
import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { directory, file, writeTar } from './tar.mjs';

/**
 * @typedef {{ readonly blob: Buffer, readonly digest: string, readonly diffId: string }} Layer
 * @typedef {{ readonly mediaType: string, readonly digest: string, readonly size: number }} Descriptor
 * @typedef {object} Image
 * @property {string} reference the name and tag that tools give the image when they load it
 * @property {number} time in seconds since 1970
 * @property {Readonly<Record<string, string>>} annotations
 * @property {readonly string[]} [entrypoint] what a container runs, with the command as its arguments
 * @property {readonly string[]} command what a container runs if its creator names nothing
 * @property {readonly { readonly architecture: string, readonly layers: readonly Layer[] }[]} platforms
 */

const MEDIA = 'application/vnd.oci.image';
const GZIP_LEVEL = 6;
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/**
 * @param {readonly import('./tar.mjs').Entry[]} entries
 * @param {number} time
 * @returns {Layer}
 */
export function makeLayer(entries, time) {
  const tar = writeTar(entries, time);
  const blob = gzipSync(tar, { level: GZIP_LEVEL });
  return { blob, digest: digestOf(blob), diffId: digestOf(tar) };
}

/**
 * A layer that is not compressed, for images that never leave this machine.
 * @param {Buffer} tar
 * @returns {Layer}
 */
export function plainLayer(tar) {
  const digest = digestOf(tar);
  return { blob: tar, digest, diffId: digest };
}

/** @param {Image} image */
export function writeImage(image) {
  return writeImages([image], image.time);
}

/**
 * Writes one archive with several images. Layers that they share are in it once.
 * @param {readonly Image[]} images
 * @param {number} time in seconds since 1970
 */
export function writeImages(images, time) {
  /** @type {Map<string, Buffer>} */
  const blobs = new Map();
  /** @type {(mediaType: string, content: Buffer) => Descriptor} */
  const add = (mediaType, content) => {
    const digest = digestOf(content);
    blobs.set(digest, content);
    return { mediaType, digest, size: content.length };
  };
  const top = { schemaVersion: 2, manifests: images.map(image => addIndex(image, add)) };
  return writeTar(
    [
      directory('blobs'),
      directory('blobs/sha256'),
      ...[...blobs].sort().map(([digest, content]) => file(`blobs/${digest.replace(':', '/')}`, content)),
      file('index.json', json(top)),
      file('oci-layout', json({ imageLayoutVersion: '1.0.0' })),
    ],
    time,
  );
}

/**
 * @param {Image} image
 * @param {(mediaType: string, content: Buffer) => Descriptor} add
 */
function addIndex(image, add) {
  const manifests = image.platforms.map(({ architecture, layers }) => ({
    ...addManifest(image, architecture, layers, add),
    platform: { architecture, os: 'linux' },
  }));
  const { annotations, reference } = image;
  const mediaType = `${MEDIA}.index.v1+json`;
  const index = add(mediaType, json({ schemaVersion: 2, mediaType, manifests, annotations }));
  const name = { 'org.opencontainers.image.ref.name': reference, 'io.containerd.image.name': reference };
  return { ...index, annotations: name };
}

/**
 * @param {Image} image
 * @param {string} architecture
 * @param {readonly Layer[]} layers
 * @param {(mediaType: string, content: Buffer) => Descriptor} add
 */
function addManifest({ time, annotations, entrypoint, command }, architecture, layers, add) {
  const created = new Date(time * 1000).toISOString();
  const config = add(
    `${MEDIA}.config.v1+json`,
    json({
      created,
      architecture,
      os: 'linux',
      config: { Env: [`PATH=${PATH}`], Entrypoint: entrypoint, Cmd: command, WorkingDir: '/', Labels: annotations },
      rootfs: { type: 'layers', diff_ids: layers.map(({ diffId }) => diffId) },
      history: layers.map(() => ({ created, created_by: 'npm run release' })),
    }),
  );
  const mediaType = `${MEDIA}.manifest.v1+json`;
  const added = layers.map(({ blob, digest, diffId }) =>
    add(`${MEDIA}.layer.v1.tar${digest === diffId ? '' : '+gzip'}`, blob),
  );
  return add(mediaType, json({ schemaVersion: 2, mediaType, config, layers: added, annotations }));
}

/** @param {Buffer} content */
function digestOf(content) {
  return `sha256:${createHash('sha256').update(content).digest('hex')}`;
}

/** @param {unknown} value */
function json(value) {
  return Buffer.from(JSON.stringify(value));
}
