import type { CompletedFlag, Completions, Values } from './values.ts';

/** Returns a script that needs bash 4 and no other package. */
export function bashScript({ flags, commands }: Completions): string {
  const root = { name: '', flags, words: commands.map(({ name }) => name) };
  const all = [...commands, root];
  return `# Completion of kube-proxy for bash. To use it: source <(kube-proxy completion bash)

${FUNCTIONS}
_kube_proxy() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} command=\${COMP_WORDS[1]} prefix='' flags words
  COMPREPLY=()
  ((COMP_CWORD > 1)) || command=''
  if [[ $cur == --*=* ]]; then
    # This shell does not break words at an equals sign.
    prev=\${cur%%=*} prefix=$prev= cur=\${cur#*=}
  elif [[ $cur == = ]]; then
    cur=''
  elif [[ $prev == = ]]; then
    prev=\${COMP_WORDS[COMP_CWORD-2]}
    # A second equals sign in one value belongs to a feature gate.
    [[ $prev == -* ]] || prev='=gate'
  fi
  case $command in
${commands.map(({ name }) => `    ${name}) ;;`).join('\n')}
    *) command='' ;;
  esac
  case $command in
${all.map(({ name, flags, words }) => `    ${quoted(name)}) flags=${quoted(namesOf(flags).join(' '))} words=${quoted(words.join(' '))} ;;`).join('\n')}
  esac
  case $command$prev in
${all.flatMap(({ name, flags }) => flags.flatMap(flag => valueCase(name, flag))).join('\n')}
    *=gate) _kube_proxy_gate_value; return ;;
  esac
  if [[ $cur == -* ]]; then
    _kube_proxy_words "$flags"
  elif ((COMP_CWORD == 1)) || [[ -n $command && COMP_CWORD -eq 2 ]]; then
    _kube_proxy_words "$words"
  fi
}

_kube_proxy_gates=${quoted(gatesOf(flags).join(' '))}

complete -F _kube_proxy kube-proxy
`;
}

/** Each function completes the word $cur, and puts $prefix before each completion. */
const FUNCTIONS = `_kube_proxy_words() {
  mapfile -t COMPREPLY < <(compgen -P "$prefix" -W "$1" -- "$cur")
}

_kube_proxy_files() {
  compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(compgen -P "$prefix" -f -- "$cur")
}

_kube_proxy_list() {
  compopt -o nospace 2>/dev/null
  if [[ $cur == *,* ]]; then
    prefix+=\${cur%,*},
    cur=\${cur##*,}
  fi
  _kube_proxy_words "$_kube_proxy_gates"
}

_kube_proxy_gate_value() {
  if [[ $cur == *,* ]]; then
    _kube_proxy_list
  else
    compopt -o nospace 2>/dev/null
    _kube_proxy_words 'true false'
  fi
}
`;

function namesOf(flags: readonly CompletedFlag[]): readonly string[] {
  return flags.flatMap(({ name, shorthand }) => [`--${name}`, ...(shorthand ? [`-${shorthand}`] : [])]);
}

function valueCase(command: string, { name, shorthand, values }: CompletedFlag): readonly string[] {
  if (!values) return [];
  const patterns = [`${command}--${name}`, ...(shorthand ? [`${command}-${shorthand}`] : [])];
  return [`    ${patterns.join(' | ')}) ${completionOf(values)}return ;;`];
}

function completionOf(values: Values): string {
  switch (values.kind) {
    case 'none':
      return '';
    case 'files':
      return '_kube_proxy_files; ';
    case 'words':
      return `_kube_proxy_words ${quoted(values.words.join(' '))}; `;
    case 'list':
      return '_kube_proxy_list; ';
  }
}

function gatesOf(flags: readonly CompletedFlag[]): readonly string[] {
  return flags.flatMap(({ values }) => (values?.kind === 'list' ? values.words : []));
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
