import { readdirSync, readFileSync } from 'node:fs';
import { root } from '../setup.mjs';

/**
 * The licences of the npm packages that a bundle contains. They ask for that.
 * @param {readonly import('./program.mjs').NpmComponent[]} packages
 */
export function licenseTexts(packages) {
  return packages
    .map(({ name, version, license }) => {
      const folder = `${root}node_modules/${name}`;
      const file = readdirSync(folder).find(entry => /^licen[cs]e/i.test(entry));
      const text = file ? readFileSync(`${folder}/${file}`, 'utf8').trim() : `License: ${license}`;
      return `${name} ${version}\n\n${text}\n`;
    })
    .join('\n----\n\n');
}
