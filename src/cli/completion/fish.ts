import type { CompletedFlag, Completions } from './values.ts';

export function fishScript({ flags, commands }: Completions): string {
  const names = commands.map(({ name }) => name).join(' ');
  const isFirst = 'test (count (commandline -opc)) -eq 1';
  const isSecond = (name: string) => `${isFirst.replace('-eq 1', '-eq 2')}; and __fish_seen_subcommand_from ${name}`;
  const lines = [
    'complete -c kube-proxy -f',
    ...commands.map(({ name, text }) => `${complete(isFirst)} -a ${name} -d ${quoted(text)}`),
    ...flags.map(flag => flagLine(`not __fish_seen_subcommand_from ${names}`, flag)),
    ...commands.flatMap(({ name, words, flags }) => [
      ...(words.length > 0 ? [`${complete(isSecond(name))} -a ${quoted(words.join(' '))}`] : []),
      ...flags.map(flag => flagLine(`__fish_seen_subcommand_from ${name}`, flag)),
    ]),
  ];
  return `# Completion of kube-proxy for fish. To use it:
#   kube-proxy completion fish > ~/.config/fish/completions/kube-proxy.fish

${listFunction(flags)}
${lines.join('\n')}
`;
}

/** Offers each word after the words that the list has already. */
function listFunction(flags: readonly CompletedFlag[]): string {
  const words = flags.flatMap(({ values }) => (values?.kind === 'list' ? values.words : []));
  return `function __kube_proxy_list
    set -l list (commandline -ct | string replace -r '^--[^=]*=' '')
    set -l head (string match -r '^.*,' -- $list)
    for word in ${words.join(' ')}
        echo "$head$word"
    end
end
`;
}

function complete(condition: string): string {
  return `complete -c kube-proxy -n ${quoted(condition)}`;
}

function flagLine(condition: string, { name, shorthand, text, values }: CompletedFlag): string {
  const letter = shorthand === undefined ? '' : ` -s ${shorthand}`;
  const long = name === shorthand ? '' : ` -l ${name}`;
  return `${complete(condition)}${long}${letter} -d ${quoted(text)}${valueOptions(values)}`;
}

function valueOptions(values: CompletedFlag['values']): string {
  switch (values?.kind) {
    case undefined:
      return '';
    case 'none':
      return ' -x';
    case 'files':
      return ' -r -F';
    case 'words':
      return ` -x -a ${quoted(values.words.join(' '))}`;
    case 'list':
      return " -x -a '(__kube_proxy_list)'";
  }
}

function quoted(text: string): string {
  return `'${text.replaceAll(/['\\]/g, String.raw`\$&`)}'`;
}
