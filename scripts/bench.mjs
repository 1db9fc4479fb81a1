// npm run bench -- NAME [--json] …: runs bench/NAME.ts, or bench/NAME.guest.ts in a guest. With --json each row is one JSON object on a line.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { bundle } from './build.mjs';
import { runInGuest } from './guest.mjs';
import { installPackages, root } from './setup.mjs';

const [name, ...args] = process.argv.slice(2);
const inGuest = existsSync(`${root}bench/${name}.guest.ts`);
if (!name || !(inGuest || existsSync(`${root}bench/${name}.ts`))) {
  const names = readdirSync(`${root}bench`).filter(file => /^[a-z-]+(\.guest)?\.ts$/.test(file));
  console.error(
    `usage: npm run bench -- NAME [--json]\nNAME is one of: ${names.map(file => file.replace(/(\.guest)?\.ts$/, '')).join(', ')}`,
  );
  process.exit(2);
}
installPackages();
await bundle({ [`bench-${name}`]: `${root}bench/${name}${inGuest ? '.guest' : ''}.ts` }, `${root}build`);
const flags = ['--enable-source-maps', '--expose-gc', '--max-semi-space-size=16'];
// Programs that are compared may take their time.
if (inGuest) {
  const { status, output } = await runInGuest([...flags, `build/bench-${name}.mjs`, ...args], {
    timeoutMs: 3 * 3_600_000,
  });
  process.stdout.write(output);
  process.exit(status);
}
const { status } = spawnSync(process.execPath, [...flags, `build/bench-${name}.mjs`, ...args], {
  cwd: root,
  stdio: 'inherit',
});
process.exit(status ?? 1);
