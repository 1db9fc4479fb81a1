import type { Address, ViewName } from './address.ts';

const VIEW_TITLES: Readonly<Record<ViewName, string>> = {
  services: 'Services',
  service: 'Service',
  ask: 'Ask',
  timeline: 'Timeline',
  rules: 'Rules',
  fleet: 'Nodes',
};

/** The title of the document: `shop/cart · node-a · Pointsman`. */
export function documentTitle({ view, words }: Pick<Address, 'view' | 'words'>, node: string | undefined): string {
  const subject = view === 'service' && words.length > 0 ? words.join('/') : VIEW_TITLES[view];
  return [subject, node, 'Pointsman'].filter(part => part).join(' · ');
}
