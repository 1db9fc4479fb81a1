import type { FrontendDetail } from '../../../inspect/index.ts';

export const FRONTEND_WORDS: Readonly<Record<FrontendDetail['kind'], string>> = {
  ClusterIP: 'cluster IP',
  ExternalIP: 'external IP',
  LoadBalancerIP: 'load-balancer IP',
  NodePort: 'node port',
};

/** `10.96.0.10:80`, `[fd00::10]:80` */
export function hostPort(address: string, port: number): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}

/** `33 %`, `0.1 %`, with a space that does not break. */
export function percent(share: number): string {
  const value = share * 100;
  // What is left to others does not vanish.
  if (value > 99 && value < 100) return `${Math.min(99.9, Number(value.toFixed(1)))}\u00a0%`;
  if (value > 0 && value < 0.01) return '<\u00a00.01\u00a0%';
  const digits = value >= 10 ? 0 : value >= 1 ? 1 : 2;
  return `${Number(value.toFixed(digits))}\u00a0%`;
}

/** The text with a capital letter at its beginning. */
export function capitalized(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
