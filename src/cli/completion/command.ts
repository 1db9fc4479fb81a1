import { type Command, defineCommand, oneOf, print } from '../command.ts';
import { bashScript } from './bash.ts';
import { fishScript } from './fish.ts';
import { completionsOf } from './values.ts';
import { zshScript } from './zsh.ts';

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript };
const SHELLS = ['bash', 'zsh', 'fish'] as const;

/** `commands` returns all commands, this one included. */
export function completionCommand(commands: () => readonly Command[]): Command {
  return defineCommand({
    name: 'completion',
    summary: 'print a script that lets a shell complete commands and flags',
    about: `Prints a script for a shell. With it, the shell completes commands, flags, modes, feature gates and files.`,
    usage: 'completion bash|zsh|fish',
    examples: [
      { meaning: 'In this bash', command: 'source <(kube-proxy completion bash)' },
      {
        meaning: 'In every zsh; the folder must be in fpath',
        command: 'kube-proxy completion zsh > /usr/local/share/zsh/site-functions/_kube-proxy',
      },
      {
        meaning: 'In every fish',
        command: 'kube-proxy completion fish > ~/.config/fish/completions/kube-proxy.fish',
      },
    ],
    flags: {},
    words: SHELLS,
    async run({ positional: [shell = ''] }, io) {
      const script = SCRIPTS[oneOf(SHELLS, shell, '"kube-proxy completion"')];
      return print(io, script(completionsOf(commands())));
    },
  });
}
