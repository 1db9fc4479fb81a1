import type { Place } from '../../../../../explain/index.ts';
import type { FrontendDetail, PortDetail } from '../../../../../inspect/index.ts';
import { shellQuote } from '../../../parts/shell-quote.ts';
import { hostPort } from '../../../parts/texts.ts';

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
  // Without --from the caller is a pod of this node, or a machine outside where only such a machine calls.
  const caller = from === undefined || from === 'pod' ? '' : ` --from ${from}`;
  return `${command} explain${caller} ${shellQuote(explainTarget(question))}`;
}

function explainTarget({ namespace, name, port, frontend }: CopiedQuestion): string {
  const protocol = port && port.protocol !== 'TCP' ? `/${port.protocol.toLowerCase()}` : '';
  const address = frontend && addressOf(frontend);
  if (frontend && address !== undefined) return `${hostPort(address, frontend.port)}${protocol}`;
  const number = port?.frontends[0]?.port;
  const portText = port?.name || (number === undefined ? '' : String(number));
  return `${namespace}/${name}${portText === '' ? '' : `:${portText}`}${protocol}`;
}

/** A node port has the addresses of the node, if they are known. */
function addressOf({ address, acceptedAt }: FrontendDetail): string | undefined {
  if (address !== undefined) return address;
  return acceptedAt === undefined || acceptedAt === 'all' ? undefined : acceptedAt[0];
}
