import { DocumentError, isJson, type Node, type ReadDocument, readDocument } from '../lib/document/index.ts';
import { goQuote } from '../lib/go-quote.ts';
import { DecodeError, Findings, type Place, wrongTypeText } from './schema/index.ts';
import { API_VERSION, KIND, kubeProxyConfiguration, type V1alpha1 } from './v1alpha1.ts';

export interface Decoded {
  readonly file: V1alpha1;
  /** What strict decoding refuses: unknown and repeated fields. */
  readonly strict: readonly string[];
}

/** Reads the fields of a file. Throws a DecodeError. */
export function decode(text: string): Decoded {
  const document = parseDocument(text);
  checkKind(document.node, text);
  const findings = new Findings();
  const at: Place = { findings, struct: '', fields: [], path: '' };
  const file = kubeProxyConfiguration.read(document.node, kubeProxyConfiguration.zero, at);
  findings.throwWrongType();
  return { file, strict: [...repeatedKeys(document), ...findings.strict] };
}

const NO_META = `couldn't get version/kind; json parse error: `;

function parseDocument(text: string): ReadDocument {
  try {
    return readDocument(text);
  } catch (error) {
    if (!(error instanceof DocumentError)) throw error;
    throw new DecodeError(isJson(text) ? `${NO_META}${error.message}` : error.message);
  }
}

function repeatedKeys(document: ReadDocument): string[] {
  if (document.kind === 'json' || document.duplicates.length === 0) return [];
  return [`yaml: unmarshal errors:\n  ${document.duplicates.join('\n  ')}`];
}

function checkKind(node: Node, text: string): void {
  const kind = metaField(node, 'kind');
  const apiVersion = metaField(node, 'apiVersion');
  const parts = apiVersion.split('/');
  if (parts.length > 2) throw new DecodeError(`unexpected GroupVersion string: ${apiVersion}`);
  const [version = '', group = ''] = parts.toReversed();
  if (kind === '') throw new DecodeError(`Object 'Kind' is missing in '${text}'`);
  if (version === '') throw new DecodeError(`Object 'apiVersion' is missing in '${text}'`);
  if (kind === KIND && apiVersion === API_VERSION) return;
  if (version === '__internal') {
    const internal = `the internal version of group ${goQuote(group)}`;
    throw new DecodeError(`no kind ${goQuote(kind)} is registered for ${internal} in scheme`);
  }
  const shown = group === '' ? version : apiVersion;
  throw new DecodeError(`no kind ${goQuote(kind)} is registered for version ${goQuote(shown)} in scheme`);
}

/** The names `kind` and `apiVersion` are case-insensitive, unlike all other names. */
function metaField(node: Node, name: string): string {
  if (node.kind === 'null') return '';
  if (node.kind !== 'object') {
    const type =
      'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';
    throw new DecodeError(NO_META + wrongTypeText(node, type, { struct: '', fields: [] }));
  }
  let found = '';
  for (const { key, value } of node.members) {
    if (key.toLowerCase() !== name.toLowerCase() || value.kind === 'null') continue;
    if (value.kind !== 'string')
      throw new DecodeError(NO_META + wrongTypeText(value, 'string', { struct: '', fields: [name] }));
    found = value.text;
  }
  return found;
}
