import { signal } from '@preact/signals';

export const VIEWS = ['services', 'service', 'ask', 'timeline', 'rules', 'fleet'] as const;
export type ViewName = (typeof VIEWS)[number];

/** What the page shows, as its address says: `#/service/shop/cart?tab=kernel`. Everything that can be shared is here. */
export interface Address {
  readonly view: ViewName;
  /** The words after the view: namespace and name of a Service. */
  readonly words: readonly string[];
  /** `q` of the search, `filter`, `from`, `to`. Views decide which they use. */
  readonly parameters: Readonly<Record<string, string>>;
}

export function parseAddress(hash: string): Address {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?', 2);
  const [first = '', ...words] = path.split('/').map(decoded);
  const view = VIEWS.find(name => name === first) ?? 'services';
  return { view, words, parameters: Object.fromEntries(new URLSearchParams(query)) };
}

export function formatAddress({ view, words = [], parameters = {} }: Partial<Address> & Pick<Address, 'view'>): string {
  const query = new URLSearchParams(Object.entries(parameters).filter(([, value]) => value !== '')).toString();
  return `#/${[view, ...words].map(encodeURIComponent).join('/')}${query === '' ? '' : `?${query}`}`;
}

function decoded(word: string): string {
  try {
    return decodeURIComponent(word);
  } catch {
    return word;
  }
}

/** The address that the page shows now. */
export const address = signal(parseAddress(globalThis.location?.hash ?? ''));

globalThis.addEventListener?.('hashchange', () => {
  address.value = parseAddress(location.hash);
});

/** Goes to another address. With `replace`, the browser's Back button skips the former one. */
export function go(next: Partial<Address> & Pick<Address, 'view'>, { replace = false } = {}): void {
  const text = formatAddress(next);
  if (replace) history.replaceState(undefined, '', text);
  else history.pushState(undefined, '', text);
  address.value = parseAddress(text);
}

/** Changes parameters of the address, and keeps the rest. An empty value removes a parameter. */
export function setParameters(changed: Readonly<Record<string, string>>): void {
  const { parameters, ...rest } = address.value;
  go({ ...rest, parameters: { ...parameters, ...changed } }, { replace: true });
}

export function serviceAddress(key: string): string {
  return formatAddress({ view: 'service', words: key.split('/') });
}
