// Ends the process with a clear message if Node.js is too old. Every script imports this file through setup.mjs, and
// scripts/build.mjs puts the same check at the beginning of the program. package.json has the version.
import { readFileSync } from 'node:fs';

/** The oldest version that works: `20.18`. */
export const oldest = oldestVersion();

/**
 * This function is also part of the program, so it uses nothing outside of it.
 * @param {string} oldest
 * @param {string} version
 * @returns {string | undefined} what is wrong
 */
export function versionProblem(oldest, version) {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [oldestMajor = 0, oldestMinor = 0] = oldest.split('.').map(Number);
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return undefined;
  return `Pointsman needs Node.js ${oldest} or newer. This is Node.js ${version}.`;
}

/** The check as a text of JavaScript. */
export const versionCheck = `{ ${versionProblem}
const problem = versionProblem('${oldest}', process.versions.node);
if (problem) { console.error(problem); process.exit(1); } }`;

const problem = versionProblem(oldest, process.versions.node);
if (problem) {
  console.error(problem);
  process.exit(1);
}

function oldestVersion() {
  const { engines } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  return engines.node.replace('>=', '');
}
