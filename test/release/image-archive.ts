import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { type Entry, readTar } from '../../scripts/release/tar.mjs';
import { readReleaseFile } from './release-files.ts';

export type ImageName = 'pointsman' | 'pointsman-slim';
export type Architecture = 'amd64' | 'arm64';

interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
  readonly platform?: { readonly os: string; readonly architecture: string };
  readonly annotations?: Readonly<Record<string, string>>;
}

interface Index {
  readonly manifests: readonly Descriptor[];
  readonly annotations?: Readonly<Record<string, string>>;
}

interface Manifest {
  readonly config: Descriptor;
  readonly layers: readonly Descriptor[];
}

interface Configuration {
  readonly architecture: string;
  readonly config: {
    readonly Env: readonly string[];
    readonly Entrypoint?: readonly string[];
    readonly Cmd: readonly string[];
    readonly Labels: Readonly<Record<string, string>>;
  };
  readonly rootfs: { readonly diff_ids: readonly string[] };
}

/** An image of the release. Reads only what a container runtime would read, and checks every digest and size. */
export class ImageArchive {
  readonly #files: ReadonlyMap<string, Buffer>;

  constructor(name: ImageName) {
    const entries = readTar(readReleaseFile(new RegExp(`^${name}-\\d.*\\.oci\\.tar$`)));
    this.#files = new Map(entries.flatMap(entry => (entry.type === 'file' ? [[entry.path, entry.content]] : [])));
  }

  get top(): Index {
    return JSON.parse(String(this.#files.get('index.json')));
  }

  get index(): Index {
    return this.#json(this.top.manifests[0]);
  }

  configuration(architecture: Architecture): Configuration {
    return this.#json(this.#manifest(architecture).config);
  }

  /** The files of the image by path. A later layer replaces the files of an earlier one. */
  files(architecture: Architecture): ReadonlyMap<string, Entry> {
    const { layers } = this.#manifest(architecture);
    const { diff_ids: diffIds } = this.configuration(architecture).rootfs;
    const files = new Map<string, Entry>();
    layers.forEach((layer, i) => {
      const tar = gunzipSync(this.#blob(layer));
      if (digestOf(tar) !== diffIds[i]) throw new Error(`layer ${i} is not the one of the configuration`);
      for (const entry of readTar(tar)) files.set(entry.path, entry);
    });
    return files;
  }

  /** The time of the first file of each layer, in seconds since 1970. */
  layerTimes(architecture: Architecture): readonly number[] {
    const tars = this.#manifest(architecture).layers.map(layer => gunzipSync(this.#blob(layer)));
    return tars.map(tar => Number.parseInt(tar.toString('latin1', 136, 147), 8));
  }

  unpack(architecture: Architecture, folder: string): void {
    for (const entry of this.files(architecture).values()) writeEntry(`${folder}/${entry.path}`, entry);
  }

  #manifest(architecture: Architecture): Manifest {
    return this.#json(this.index.manifests.find(({ platform }) => platform?.architecture === architecture));
  }

  #json<T>(descriptor: Descriptor | undefined): T {
    return JSON.parse(this.#blob(descriptor).toString());
  }

  #blob(descriptor: Descriptor | undefined): Buffer {
    const content = descriptor && this.#files.get(`blobs/${descriptor.digest.replace(':', '/')}`);
    if (!content) throw new Error(`the archive lacks ${JSON.stringify(descriptor)}`);
    if (content.length !== descriptor.size) throw new Error(`${descriptor.digest} has another size`);
    if (digestOf(content) !== descriptor.digest) throw new Error(`${descriptor.digest} has another content`);
    return content;
  }
}

function writeEntry(path: string, entry: Entry): void {
  if (entry.type === 'directory') mkdirSync(path, { recursive: true });
  else rmSync(path, { force: true });
  if (entry.type === 'file') writeFileSync(path, entry.content);
  if (entry.type === 'symlink') symlinkSync(entry.target, path);
  else chmodSync(path, entry.mode);
}

function digestOf(content: Buffer): string {
  return `sha256:${createHash('sha256').update(content).digest('hex')}`;
}
