import { knownFeatures } from '../../config/index.ts';
import { type Command, defineCommand, oneOf, print } from '../command.ts';
import { flagsText, overviewText } from './overview.ts';
import { helpWidth } from './text.ts';
import upstream from './upstream-help.json' with { type: 'json' };

/** What `help` can print beside the help of a command. */
const TOPICS: Readonly<Record<string, (width: number) => string>> = {
  flags: flagsText,
  'feature-gates': () => lines(knownFeatures()),
  upstream: () => lines(upstream.lines),
};

/** `commands` returns all commands, the help command included. */
export function helpCommand(commands: () => readonly Command[]): Command {
  const words = () => [...Object.keys(TOPICS), ...commands().map(({ name }) => name)];
  const command = defineCommand({
    name: 'help',
    summary: 'describe a command, or list all flags',
    about: `Describes a command. Without one, lists all commands and flags.

"help flags" lists the flags, and "help feature-gates" the feature gates. "help upstream" prints, word for word, the help
of upstream's kube-proxy ${upstream.version}.`,
    usage: 'help [COMMAND | flags | feature-gates | upstream]',
    examples: [{ meaning: 'What plan can do', command: 'kube-proxy help plan' }],
    flags: {},
    words: Object.keys(TOPICS),
    async run({ positional }, io) {
      const width = helpWidth(io.stdout);
      const [topic] = positional;
      if (topic === undefined) return print(io, overviewText(commands(), width));
      const name = oneOf(words(), topic, '"kube-proxy help"');
      const named = commands().find(other => other.name === name);
      return print(io, named?.help(width) ?? TOPICS[name]?.(width) ?? '');
    },
  });
  return {
    ...command,
    get words() {
      return words();
    },
  };
}

function lines(all: readonly string[]): string {
  return all.map(line => `${line}\n`).join('');
}
