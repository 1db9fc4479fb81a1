// Reads and writes tar archives in memory. What it writes depends on the entries and the time alone: entries are sorted,
// belong to root, and have one time. So the same files give the same bytes on every machine.

/**
 * A file, directory or link of an archive. Its path has no slash at either end.
 * @typedef {{ readonly path: string, readonly mode: number } & (
 *   | { readonly type: 'file', readonly content: Buffer }
 *   | { readonly type: 'directory' }
 *   | { readonly type: 'symlink' | 'hardlink', readonly target: string })} Entry
 */

const BLOCK = 512;
const NAME_BYTES = 100;
const PREFIX_BYTES = 155;

/** @type {Readonly<Record<string, Entry['type']>>} */
const TYPES = { 0: 'file', '\0': 'file', 1: 'hardlink', 2: 'symlink', 5: 'directory' };
const FLAGS = { file: '0', hardlink: '1', symlink: '2', directory: '5' };

/**
 * @param {string} path
 * @param {string | Buffer} content
 * @returns {Entry}
 */
export function file(path, content, mode = 0o644) {
  return { type: 'file', path, mode, content: Buffer.from(content) };
}

/**
 * @param {string} path
 * @returns {Entry}
 */
export function directory(path, mode = 0o755) {
  return { type: 'directory', path, mode };
}

/**
 * @param {string} path
 * @param {string} target
 * @returns {Entry}
 */
export function symlink(path, target) {
  return { type: 'symlink', path, mode: 0o777, target };
}

/**
 * Adds the directories that the entries lie in, and sorts. A directory comes before what it contains.
 * @param {readonly Entry[]} entries
 * @returns {readonly Entry[]}
 */
export function withParents(entries) {
  const byPath = new Map(entries.map(entry => [entry.path, entry]));
  for (const { path } of entries) {
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
      const parent = path.slice(0, end);
      if (!byPath.has(parent)) byPath.set(parent, directory(parent));
    }
  }
  return [...byPath.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
}

/**
 * @param {readonly Entry[]} entries
 * @param {number} time in seconds since 1970, of all entries
 * @param {string} root what every path begins with: `./` in a Debian package
 */
export function writeTar(entries, time, root = '') {
  const blocks = entries.flatMap(entry => {
    const content = entry.type === 'file' ? entry.content : Buffer.alloc(0);
    return [header(entry, time, root), content, Buffer.alloc(-content.length & (BLOCK - 1))];
  });
  return Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK)]);
}

/**
 * @param {Entry} entry
 * @param {number} time
 * @param {string} root
 */
function header(entry, time, root) {
  const block = Buffer.alloc(BLOCK);
  const path = `${root}${entry.path}${entry.type === 'directory' ? '/' : ''}`;
  const [prefix, name] = splitPath(path);
  const target = 'target' in entry ? entry.target : '';
  if (Buffer.byteLength(target) > NAME_BYTES) throw new Error(`The target of the link ${path} is too long for tar`);
  block.write(name, 0);
  writeNumber(block, entry.mode, 100, 8);
  writeNumber(block, 0, 108, 8);
  writeNumber(block, 0, 116, 8);
  writeNumber(block, entry.type === 'file' ? entry.content.length : 0, 124, 12);
  writeNumber(block, time, 136, 12);
  block.write(' '.repeat(8), 148);
  block.write(FLAGS[entry.type], 156);
  block.write(target, 157);
  block.write('ustar\x0000root', 257);
  block.write('root', 297);
  block.write(prefix, 345);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return block;
}

/**
 * @param {string} path
 * @returns {readonly [prefix: string, name: string]}
 */
function splitPath(path) {
  if (Buffer.byteLength(path) <= NAME_BYTES) return ['', path];
  const slash = path.indexOf('/', path.length - NAME_BYTES - 1);
  if (slash <= 0 || slash > PREFIX_BYTES || slash === path.length - 1)
    throw new Error(`The path is too long for tar: ${path}`);
  return [path.slice(0, slash), path.slice(slash + 1)];
}

/**
 * @param {Buffer} block
 * @param {number} value
 * @param {number} offset
 * @param {number} size
 */
function writeNumber(block, value, offset, size) {
  block.write(value.toString(8).padStart(size - 1, '0'), offset);
}

/**
 * Reads an archive of GNU tar or npm. Owners and times are ignored.
 * @param {Buffer} archive
 * @returns {readonly Entry[]}
 */
export function readTar(archive) {
  /** @type {Entry[]} */
  const entries = [];
  /** GNU tar writes a long name or target as the content of an entry before the entry. */
  let long = { path: '', target: '' };
  for (let at = 0; at + BLOCK <= archive.length && archive[at] !== 0; ) {
    const block = archive.subarray(at, at + BLOCK);
    const size = readNumber(block, 124, 12);
    const content = archive.subarray(at + BLOCK, at + BLOCK + size);
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
    const flag = block.toString('latin1', 156, 157);
    if (flag === 'L') long.path = text(content, 0, size);
    else if (flag === 'K') long.target = text(content, 0, size);
    else {
      const type = TYPES[flag];
      if (!type) throw new Error(`The archive has an entry of the unknown type ${JSON.stringify(flag)}`);
      const path = trimPath(
        long.path || [text(block, 345, PREFIX_BYTES), text(block, 0, NAME_BYTES)].filter(Boolean).join('/'),
      );
      const target = long.target || text(block, 157, NAME_BYTES);
      const mode = readNumber(block, 100, 8) & 0o7777;
      long = { path: '', target: '' };
      if (path === '') continue;
      if (type === 'file') entries.push({ type, path, mode, content });
      else if (type === 'directory') entries.push({ type, path, mode });
      else entries.push({ type, path, mode, target: type === 'hardlink' ? trimPath(target) : target });
    }
  }
  return entries;
}

/** @param {string} path */
function trimPath(path) {
  return path.replace(/^(\.?\/)+|^\.$/, '').replace(/\/+$/, '');
}

/**
 * @param {Buffer} block
 * @param {number} offset
 * @param {number} size
 */
function readNumber(block, offset, size) {
  return Number.parseInt(text(block, offset, size), 8) || 0;
}

/**
 * @param {Buffer} block
 * @param {number} offset
 * @param {number} size
 */
function text(block, offset, size) {
  const end = block.indexOf(0, offset);
  return block.toString('utf8', offset, end < 0 ? offset + size : Math.min(end, offset + size)).trim();
}
