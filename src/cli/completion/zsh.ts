import type { CompletedCommand, CompletedFlag, Completions } from './values.ts';

export function zshScript({ flags, commands }: Completions): string {
  const described = commands.map(({ name, text }) => quoted(`${name}:${text.replaceAll(':', String.raw`\:`)}`));
  return `#compdef kube-proxy
# Completion of kube-proxy for zsh. To use it, save it as _kube-proxy in a folder of fpath,
# or: source <(kube-proxy completion zsh)

_kube_proxy_gate() {
  local -a gates=(${gatesOf(flags).map(quoted).join(' ')})
  compadd "$@" -a gates
}

_kube-proxy() {
  local -a commands=(
    ${described.join('\n    ')}
  )
  if ((CURRENT == 2)) && [[ $words[2] != -* ]]; then
    _describe -t commands command commands
    return
  fi
  case $words[2] in
${commands.map(commandCase).join('\n')}
  esac
  _arguments -s ${argumentsOf(flags)}
}

if [[ $funcstack[1] == _kube-proxy ]]; then
  _kube-proxy "$@"
else
  compdef _kube-proxy kube-proxy
fi
`;
}

function commandCase({ name, flags, words }: CompletedCommand): string {
  const first = words.length > 0 ? ` ${quoted(`1:word:(${words.join(' ')})`)}` : '';
  return `    ${name})
      shift words
      ((CURRENT--))
      _arguments -s ${argumentsOf(flags)}${first}
      return
      ;;`;
}

function argumentsOf(flags: readonly CompletedFlag[]): string {
  return flags.flatMap(flagSpecs).map(quoted).join(' \\\n        ');
}

/** The forms of one flag exclude each other, except for lists and the verbosity, which may repeat. */
function flagSpecs({ name, shorthand, text, values }: CompletedFlag): readonly string[] {
  const tail = `[${escaped(text)}]${action(values)}`;
  const long = `--${name}${values ? '=' : ''}${tail}`;
  if (shorthand === undefined) return [long];
  const exclusive = `(-${shorthand} --${name})`;
  return [`${exclusive}${long}`, `${exclusive}-${shorthand}${values ? '+' : ''}${tail}`];
}

function action(values: CompletedFlag['values']): string {
  switch (values?.kind) {
    case undefined:
      return '';
    case 'none':
      return ':value: ';
    case 'files':
      return ':file:_files';
    case 'words':
      return `:value:(${values.words.join(' ')})`;
    case 'list':
      return ':feature gate:_sequence _kube_proxy_gate';
  }
}

function gatesOf(flags: readonly CompletedFlag[]): readonly string[] {
  return flags.flatMap(({ values }) => (values?.kind === 'list' ? values.words : []));
}

function escaped(text: string): string {
  return text.replaceAll(/[[\]\\:]/g, String.raw`\$&`);
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
