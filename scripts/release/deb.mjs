// Reads and writes Debian packages. A package is an `ar` archive with two tar archives: what is installed, and what is
// said about it.
import { spawnSync } from 'node:child_process';
import { gunzipSync, gzipSync } from 'node:zlib';
import { readTar, writeTar } from './tar.mjs';

const MAGIC = '!<arch>\n';
const HEADER_BYTES = 60;
const MAX_BYTES = 1 << 30;

/**
 * @param {Buffer} content
 * @returns {{ readonly control: string, readonly files: readonly import('./tar.mjs').Entry[] }}
 */
export function readDeb(content) {
  const members = readAr(content);
  const tarOf = (/** @type {string} */ start) => {
    const found = [...members].find(([name]) => name.startsWith(start));
    if (!found) throw new Error(`The Debian package has no ${start}`);
    return readTar(decompress(...found));
  };
  const control = tarOf('control.tar').find(entry => entry.path === 'control');
  if (control?.type !== 'file') throw new Error('The Debian package has no control file');
  return { control: control.content.toString(), files: tarOf('data.tar') };
}

/**
 * @param {readonly import('./tar.mjs').Entry[]} control
 * @param {readonly import('./tar.mjs').Entry[]} files
 * @param {number} time in seconds since 1970
 */
export function writeDeb(control, files, time) {
  /** @type {readonly (readonly [name: string, content: Buffer])[]} */
  const members = [
    ['debian-binary', Buffer.from('2.0\n')],
    ['control.tar.gz', gzipSync(writeTar(control, time, './'))],
    ['data.tar.gz', gzipSync(writeTar(files, time, './'))],
  ];
  const parts = members.flatMap(([name, member]) => {
    const fields = [name.padEnd(16), `${time}`.padEnd(12), '0'.padEnd(6), '0'.padEnd(6), '100644'.padEnd(8)];
    const header = `${fields.join('')}${`${member.length}`.padEnd(10)}\`\n`;
    return [Buffer.from(header), member, Buffer.from(member.length % 2 ? '\n' : '')];
  });
  return Buffer.concat([Buffer.from(MAGIC), ...parts]);
}

/** @param {Buffer} content */
function readAr(content) {
  /** @type {Map<string, Buffer>} */
  const members = new Map();
  for (let at = MAGIC.length; at + HEADER_BYTES <= content.length; ) {
    const header = content.toString('latin1', at, at + HEADER_BYTES);
    const size = Number(header.slice(48, 58));
    at += HEADER_BYTES;
    members.set(header.slice(0, 16).replace(/\/?\s*$/, ''), content.subarray(at, at + size));
    at += size + (size % 2);
  }
  return members;
}

/**
 * @param {string} name
 * @param {Buffer} content
 */
function decompress(name, content) {
  if (name.endsWith('.tar')) return content;
  if (name.endsWith('.gz')) return gunzipSync(content);
  const program = name.endsWith('.zst') ? 'zstd' : 'xz';
  const { status, stdout, stderr, error } = spawnSync(program, ['-dc'], { input: content, maxBuffer: MAX_BYTES });
  if (status !== 0) throw new Error(`${program} could not decompress ${name}: ${error?.message ?? stderr}`);
  return stdout;
}
