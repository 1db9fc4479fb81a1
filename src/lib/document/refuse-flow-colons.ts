import { type Document, isPair, isScalar, type LineCounter, visit } from 'yaml';
import { DocumentError } from './node.ts';
import { parseErrorText } from './yaml-messages.ts';

/** For Go's parser no value between brackets begins with a colon: `[::/0]` needs quotes. Throws a DocumentError. */
export function refuseFlowColons(document: Document.Parsed, lines: LineCounter): void {
  visit(document, {
    Collection(_, { flow, items }) {
      if (!flow) return;
      for (const item of items.flatMap(each => (isPair(each) ? [each.key, each.value] : [each]))) {
        if (!isScalar(item) || item.type !== 'PLAIN' || !item.source?.startsWith(':')) continue;
        const { line } = lines.linePos(item.range?.[0] ?? 0);
        throw new DocumentError(parseErrorText(line - 1, 'did not find expected node content'));
      }
    },
  });
}
