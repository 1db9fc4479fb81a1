import { stringify } from 'yaml';
import {
  type Explanation,
  explain,
  type OperatorQuestion,
  parseQuestion,
  QuestionError,
  questionTexts,
} from '../../explain/index.ts';
import { isRecord } from '../../lib/is-record.ts';
import { printable } from '../../lib/printable.ts';
import { type Command, defineCommand, type Io, oneOf, print } from '../command.ts';
import { jsonDocument, printableTexts } from '../document-stream.ts';
import { FACTS_FLAGS, loadFacts, namesSource, refuseFactsFlags } from '../facts/index.ts';
import { bool, FlagError, type ParsedFlags, string } from '../flags/index.ts';
import { proxySocket, SOCKET_FLAG } from '../proxy-socket.ts';
import { COLOR_FLAG, colorFlag, type Style, styleFor } from '../style.ts';
import { explanationText } from './text.ts';

const FORMS = ['text', 'json', 'yaml'] as const;
const EXIT_STATUS = { works: 0, broken: 1, unknown: 2 } as const;
/** The proxy probes for at most five seconds and reads the kernel for a few more. */
const TIMEOUT_MS = 30_000;

const FLAGS = {
  from: {
    type: string,
    default: '',
    word: 'CALLER',
    usage:
      'the caller: POD, NS/POD, an IP address, pod (any of this node), node or outside (default: a pod; for external addresses: outside)',
  },
  namespace: {
    type: string,
    default: 'default',
    shorthand: 'n',
    word: 'NS',
    usage: 'namespace of names without one',
  },
  probe: { type: bool, default: false, usage: 'connect to each endpoint from the node, to see whether it answers' },
  output: { type: string, default: 'text', shorthand: 'o', word: 'FORM', usage: 'text, json or yaml', words: FORMS },
  ...SOCKET_FLAG,
  ...FACTS_FLAGS,
  ...COLOR_FLAG,
};

export const explainCommand: Command = defineCommand({
  name: 'explain',
  summary: 'say what a connection to a Service gets, and why',
  about: `Says what a connection to a Service gets, and why: which Service has the address, what the policies mean for the
caller,
every endpoint, where the packet goes, whether the kernel has what the proxy planned, and what else on the node stands
in the way. Ends with one verdict and one next step.

The proxy of this node answers. With --kubeconfig or --manifests the command plans itself, and reads no kernel.

Exit status: 0 if the connection is answered, 1 if it is not, and 2 if the command cannot tell or the command line is
wrong.`,
  usage: 'explain [--from CALLER] SERVICE[:PORT] | IP:PORT[/udp] [flags]',
  examples: [
    { meaning: 'Why does Service web of namespace shop not answer?', command: 'kube-proxy explain shop/web' },
    { meaning: 'For one pod and one port', command: 'kube-proxy explain -n shop --from client-0 web:http' },
    { meaning: 'An address, and try its endpoints', command: 'kube-proxy explain --probe 10.96.0.10:53/udp' },
    {
      meaning: 'For any node, without its proxy',
      command: 'kube-proxy explain --kubeconfig FILE --node node-b 203.0.113.10:443',
    },
  ],
  flags: FLAGS,
  argument: 'SERVICE[:PORT] or IP:PORT',
  errorStatus: EXIT_STATUS.unknown,
  async run(parsed, io) {
    const { values, positional } = parsed;
    const render = renderer(values.output, styleFor(io.stdout, io.env, colorFlag(values)), io);
    const question = questionOf(positional[0] ?? '', values);
    if (!namesSource(parsed)) refuseFactsFlags(parsed);
    const explanation = namesSource(parsed)
      ? await explainHere(question, parsed, io)
      : await askProxy(question, values);
    return print(io, render(explanation), EXIT_STATUS[explanation.verdict]);
  },
});

type Values = ParsedFlags<typeof FLAGS>['values'];

function questionOf(to: string, { from, probe, namespace }: Values): OperatorQuestion {
  if (to === '') throw new FlagError('no Service or address to explain: give SERVICE[:PORT] or IP:PORT');
  try {
    return parseQuestion({ to, from, probe, namespace });
  } catch (error) {
    if (error instanceof QuestionError) throw new FlagError(error.message);
    throw error;
  }
}

async function explainHere(
  question: OperatorQuestion,
  parsed: ParsedFlags<typeof FLAGS>,
  io: Io,
): Promise<Explanation> {
  const facts = await loadFacts(parsed, io);
  for (const note of facts.notes) io.stderr.write(`${printable(note)}\n`);
  return await explain(question, facts);
}

async function askProxy(question: OperatorQuestion, values: Values): Promise<Explanation> {
  const { to, from, probe } = questionTexts(question);
  const query = new URLSearchParams({ to, ...(from === undefined ? {} : { from }), probe: String(probe) });
  const answer = await proxySocket(values).ask(`/v1/explain?${query}`, { timeoutMs: TIMEOUT_MS });
  if (!isExplanation(answer)) throw new Error('the proxy did not answer with an explanation: it is another version');
  return answer;
}

/** The proxy is of the same version or says so by the schema. */
function isExplanation(answer: unknown): answer is Explanation {
  return isRecord(answer) && answer.schema === 'pointsman.explanation/v1' && Array.isArray(answer.steps);
}

function renderer(form: string, style: Style, { stdout }: Io): (explanation: Explanation) => string {
  switch (oneOf(FORMS, form, '"-o, --output" flag')) {
    case 'text':
      return explanation => explanationText(explanation, style, stdout.columns);
    case 'json':
      return jsonDocument;
    case 'yaml':
      return explanation => stringify(printableTexts(explanation));
  }
}
