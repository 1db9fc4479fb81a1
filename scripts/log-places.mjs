// Adds to each log call the place of the call, as klog prints it: log.info('server', …) becomes
// log.info('server start.ts:23', …). The program has the place as a constant, so that it costs nothing at run time.
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';

/** The source of a log call is its first argument, or the second one after a verbosity. */
const LOG_CALL =
  /\blog\??\.(?:(?:info|warning|error)\(|(?:v|plain|isEnabled)\([\w.]+,)\s*(?:'(?<name>[\w/-]+)'|(?<variable>[a-z]\w*))(?=[,)])/g;

/**
 * @param {string} text of a TypeScript file
 * @param {string} path of the file
 */
export function withLogPlaces(text, path) {
  let line = 1;
  let end = 0;
  return text.replaceAll(LOG_CALL, (call, name, variable, index) => {
    line += text.slice(end, index).split('\n').length - 1;
    end = index;
    const place = `${basename(path)}:${line}`;
    const argument = name === undefined ? `\`\${${variable}} ${place}\`` : `'${name} ${place}'`;
    return call.slice(0, call.length - (name === undefined ? variable.length : name.length + 2)) + argument;
  });
}

/** @type {import('esbuild').Plugin} */
export const logPlaces = {
  name: 'log places',
  setup(build) {
    build.onLoad({ filter: /\/src\/.*\.ts$/ }, ({ path }) => {
      // Tests of the log give their own sources.
      if (path.endsWith('.test.ts')) return undefined;
      return { contents: withLogPlaces(readFileSync(path, 'utf8'), path), loader: 'ts' };
    });
  },
};
