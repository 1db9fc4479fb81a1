import './navigation.css';
import { address, formatAddress, type ViewName } from '../address.ts';
import { pageInfo } from '../state/page-info.ts';
import { HelpButton } from './help.tsx';
import { PulsePlots } from './plots/pulse-plots.tsx';
import { ThemeButton } from './theme-button.tsx';

const LINKS: readonly { readonly view: ViewName; readonly text: string }[] = [
  { view: 'services', text: 'Services' },
  { view: 'ask', text: 'Ask' },
  { view: 'timeline', text: 'Timeline' },
  { view: 'rules', text: 'Rules' },
];

const FLEET = { view: 'fleet', text: 'Nodes' } as const;

/** The views, the small plots, and what is about the page itself. */
export function Navigation() {
  const { view } = address.value;
  const isFleet = pageInfo.value?.view === 'fleet';
  const current = isFleet ? 'fleet' : view === 'service' ? 'services' : view;
  const links = isFleet ? [FLEET] : LINKS;
  return (
    <section class="navigation" aria-label="Views and figures">
      <nav aria-label="Views">
        {links.map(link => (
          <a key={link.view} href={formatAddress(link)} aria-current={link.view === current ? 'page' : undefined}>
            {link.text}
          </a>
        ))}
      </nav>
      {!isFleet && <PulsePlots />}
      <HelpButton />
      <ThemeButton />
    </section>
  );
}
