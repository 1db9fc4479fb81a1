import { address, formatAddress, type ViewName } from '../address.ts';

const LINKS: readonly { readonly view: ViewName; readonly text: string }[] = [
  { view: 'services', text: 'Services' },
  { view: 'ask', text: 'Ask' },
  { view: 'timeline', text: 'Timeline' },
  { view: 'rules', text: 'Rules' },
];

export function Navigation() {
  const { view } = address.value;
  const current = view === 'service' ? 'services' : view;
  return (
    <nav aria-label="Views">
      {LINKS.map(link => (
        <a key={link.view} href={formatAddress(link)} aria-current={link.view === current ? 'page' : undefined}>
          {link.text}
        </a>
      ))}
    </nav>
  );
}
