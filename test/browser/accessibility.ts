import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';

const AXE = readFileSync('node_modules/axe-core/axe.min.js', 'utf8');

/** The rules of WCAG 2.2 AA, and what axe-core counts as good practice. */
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

interface Violation {
  readonly id: string;
  readonly help: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

/** What is out of sight need not be laid out, and then has no true size. */
const LAY_OUT = `for (const one of document.querySelectorAll('main *')) {
  if (getComputedStyle(one).contentVisibility === 'auto') one.style.contentVisibility = 'visible';
}`;

/** What axe-core finds in the page as it is now. */
export async function violations(page: Page): Promise<readonly string[]> {
  // The debugger's protocol evaluates it, so the Content-Security-Policy stays as it is.
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(AXE);
  await page.evaluate(LAY_OUT);
  const options = JSON.stringify({ runOnly: TAGS, resultTypes: ['violations'] });
  const found = await page.evaluate<readonly Violation[]>(
    `axe.run(document, ${options}).then(result => result.violations)`,
  );
  return found.flatMap(({ id, help, nodes }) =>
    nodes.slice(0, 5).map(({ html, failureSummary = '' }) => `${id}: ${help}\n${html}\n${failureSummary}`),
  );
}
