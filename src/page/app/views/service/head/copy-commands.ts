import type { Place } from '../../../../../explain/index.ts';
import type { FrontendDetail, PortDetail } from '../../../../../inspect/index.ts';
import { shellQuote } from '../../../parts/shell-quote.ts';
import { explainTarget } from './explain-target.ts';

export interface CopyCommand {
  /** What the button says. */
  readonly name: string;
  readonly about: string;
  /** One command a line. */
  readonly text: string;
}

export interface CopiedQuestion {
  readonly namespace: string;
  readonly name: string;
  /** How to run a command at the proxy. It is a shell's text already. */
  readonly command: string;
  readonly port?: PortDetail | undefined;
  readonly from?: Place | undefined;
  readonly frontend?: FrontendDetail | undefined;
}

/** The commands that need no reading of the kernel. */
export function copyCommands(question: CopiedQuestion): readonly CopyCommand[] {
  const { namespace, name, command } = question;
  return [
    { name: 'kubectl', about: 'The Service and its EndpointSlices', text: kubectlText(namespace, name) },
    { name: 'explain', about: 'What a connection gets, and why', text: explainText(question) },
    {
      name: 'history',
      about: 'Its last changes, from the event to the kernel',
      text: `${command} history ${shellQuote(`${namespace}/${name}`)}`,
    },
  ];
}

/** The Service itself does not have the label that its EndpointSlices have. */
function kubectlText(namespace: string, name: string): string {
  const get = `kubectl -n ${shellQuote(namespace)} get`;
  const label = shellQuote(`kubernetes.io/service-name=${name}`);
  return `${get} service ${shellQuote(name)} -o yaml\n${get} endpointslices -l ${label} -o yaml`;
}

function explainText(question: CopiedQuestion): string {
  const { command, from } = question;
  const caller = from === undefined ? '' : ` --from ${from}`;
  return `${command} explain${caller} ${shellQuote(explainTarget(question))}`;
}
