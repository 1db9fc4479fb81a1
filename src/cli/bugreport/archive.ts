import { errorText } from '../../lib/error-text.ts';
import { printable } from '../../lib/printable.ts';
import { withoutLikelySecrets } from '../../lib/secrets.ts';
import { TAR_END, tarFile } from '../../lib/tar.ts';
import { columns } from '../terminal-text.ts';
import type { CollectedPart, Part } from './part.ts';

export interface ArchiveOptions {
  /** The folder that all files are in. */
  readonly folder: string;
  readonly parts: readonly Part[];
  /** Milliseconds since 1970. */
  readonly time: number;
  /** Called with each part that is in the archive. */
  readonly collected: (part: Omit<CollectedPart, 'content'>) => void;
}

/** The bytes of the archive, one part after the other, so that only one of them is in memory. */
export async function* archiveBytes({ folder, parts, time, collected }: ArchiveOptions): AsyncGenerator<Buffer, void> {
  const listed: Omit<CollectedPart, 'content'>[] = [];
  const file = function* (name: string, text: string): Iterable<Buffer> {
    const content = Buffer.from(text);
    const { header, padding } = tarFile(`${folder}/${name}`, content.length, time / 1000);
    yield* [header, content, padding];
  };
  for (const part of parts) {
    const { content, ...rest } = await collect(part);
    listed.push(rest);
    collected(rest);
    yield* file(part.file, content);
  }
  yield* file('README.txt', readmeText(listed, time));
  yield TAR_END;
}

/** A part that fails is in the archive with its reason. */
async function collect({ file, about, collect }: Part): Promise<CollectedPart> {
  try {
    return { file, about, content: withoutLikelySecrets(await collect()) };
  } catch (error) {
    const problem = withoutLikelySecrets(errorText(error));
    return { file, about, content: `This part is missing: ${problem}\n`, problem };
  }
}

function readmeText(parts: readonly Omit<CollectedPart, 'content'>[], time: number): string {
  const rows = parts.map(({ file, about, problem }) => [
    file,
    problem === undefined ? about : `MISSING: ${printable(problem)}`,
  ]);
  return `A report of kube-proxy bugreport (Pointsman), made at ${new Date(time).toISOString()}.

It has the names, addresses and ports of the Services and endpoints of the cluster, and the firewall rules of the node.
Read it before you give it to others.

Removed, if they were there: the credentials that the proxy uses, and everything that looks like a token, a password, a
private key, or a user and password in a URL. The report has <redacted> in their place. It has no Secrets, no kubeconfig
and no environment variables.

${columns(rows).join('\n')}
`;
}
