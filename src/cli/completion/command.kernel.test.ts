import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { PseudoTerminal } from '../../../test/support/pseudo-terminal.ts';
import { runMain } from '../../../test/support/run-main.ts';

// These tests run real shells. They need no kernel feature, but programs that `npm test` installs for kernel tests.

const folder = mkdtempSync(join(tmpdir(), 'completion-'));
after(() => rmSync(folder, { recursive: true }));
writeFileSync(join(folder, 'settings.conf'), '');

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

async function completion(shell: string): Promise<{ status: number; script: string; error: string }> {
  const { status, stdout, stderr } = await runMain(['completion', ...(shell === '' ? [] : [shell])]);
  return { status, script: stdout, error: stderr };
}

before(async () => {
  for (const shell of SHELLS) writeFileSync(join(folder, `script.${shell}`), (await completion(shell)).script);
});

/** What an operator types before the tab, and the words that the shell then has. */
const TYPED: readonly [typed: string, words: readonly string[]][] = [
  ['pl', ['plan']],
  ['help fl', ['help', 'flags']],
  ['help dem', ['help', 'demo']],
  ['completion zs', ['completion', 'zsh']],
  ['plan --rul', ['plan', '--rules']],
  ['plan -o js', ['plan', '-o', 'json']],
  ['plan --color ne', ['plan', '--color', 'never']],
  ['plan --proxy-mode nf', ['plan', '--proxy-mode', 'nftables']],
  ['--masquerade-a', ['--masquerade-all']],
  ['--proxy-mode us', ['--proxy-mode', 'userspace']],
  ['--proxy-mode=us', ['--proxy-mode=userspace']],
  ['--masquerade-all --detect-local-mode Br', ['--masquerade-all', '--detect-local-mode', 'BridgeInterface']],
  ['--feature-gates LoggingAlphaOptions=t', ['--feature-gates', 'LoggingAlphaOptions=true']],
  [
    '--feature-gates=LoggingAlphaOptions=true,LoggingBetaOptions=f',
    ['--feature-gates=LoggingAlphaOptions=true,LoggingBetaOptions=false'],
  ],
  [`--config ${folder}/sett`, ['--config', `${folder}/settings.conf`]],
];

/** How each shell starts without the files of its user, and loads the script. */
const START: Readonly<Record<Shell, { readonly command: string; readonly load: string }>> = {
  bash: { command: 'bash --norc --noprofile -i', load: `source ${folder}/script.bash` },
  zsh: {
    command: 'zsh -f -i',
    load: `bindkey -e; autoload -U compinit && compinit -D -u; source ${folder}/script.zsh`,
  },
  fish: { command: 'fish --no-config -i', load: `source ${folder}/script.fish` },
};

const START_OF_LINE = '\x01';
const TAB = '\t';

for (const shell of SHELLS) {
  describe(`completion in ${shell}`, () => {
    let terminal: PseudoTerminal;
    let number = 0;

    before(async () => {
      const { command, load } = START[shell];
      terminal = new PseudoTerminal(command, { columns: 200, env: { HOME: folder } });
      terminal.type(`${load}\necho "lo""aded"\n`);
      await terminal.until('the script is loaded', ({ output }) => output.includes('loaded'));
    });
    after(() => terminal.close());

    for (const [typed, words] of TYPED) {
      test(`CLI-20 ${shell} completes kube-proxy ${typed.replace(folder, 'FOLDER')}`, async () => {
        number += 1;
        // The shell prints the words of the completed line instead of running it.
        terminal.type(`kube-proxy ${typed}${TAB}${START_OF_LINE}printf '<%s>' ${number} \n`);
        const wanted = [`${number}`, 'kube-proxy', ...words].map(word => `<${word}>`).join('');
        await terminal.until(wanted, ({ output }) => output.includes(wanted));
      });
    }
  });
}

test('CLI-20 every shell accepts its script', () => {
  for (const [shell, flag] of [
    ['bash', '-n'],
    ['zsh', '-n'],
    ['fish', '--no-execute'],
  ] as const) {
    const { status, stderr } = spawnSync(shell, [flag, `${folder}/script.${shell}`], { encoding: 'utf8' });
    assert.deepEqual([status, stderr], [0, ''], shell);
  }
});

test('CLI-20 bash also completes if it does not break words at an equals sign', () => {
  const complete = 'COMP_WORDS=(kube-proxy --proxy-mode=nf); COMP_CWORD=1; _kube_proxy; echo "$COMPREPLY"';
  const { stdout } = spawnSync('bash', ['-c', `source ${folder}/script.bash; ${complete}`], { encoding: 'utf8' });
  assert.equal(stdout, '--proxy-mode=nftables\n');
});

test('CLI-20 another shell, or none, is refused with a list of the shells', async () => {
  const { status, error } = await completion('bsh');
  assert.equal(status, 1);
  assert.match(
    error,
    /^Error: invalid argument "bsh" for "kube-proxy completion": must be bash, zsh or fish\nDid you mean bash\? /,
  );
  assert.equal((await completion('')).status, 1);
});
