// npm run screenshots: takes the pictures of the documents in docs/pictures, from the page of a proxy with examples/.
// Beside each picture it writes the text that the page showed. A test compares the text with the page of today.
import { buildProgram, bundle } from './build.mjs';
import { BROWSER_PROGRAMS } from './programs.mjs';
import { installNpmPackages, installPrograms, isRoot, missingPrograms, root, run } from './setup.mjs';

await installNpmPackages();
installPrograms(BROWSER_PROGRAMS, 'The pictures need');
const missing = missingPrograms(BROWSER_PROGRAMS);
if (!isRoot || missing.length > 0) {
  console.error(isRoot ? `This machine lacks ${missing.join(', ')}` : 'Only root can run the proxy of the pictures');
  process.exit(1);
}
await buildProgram();
await bundle({ 'take-pictures': `${root}test/browser/take-pictures.ts` }, `${root}build`);
run(process.execPath, ['--enable-source-maps', 'build/take-pictures.mjs']);
