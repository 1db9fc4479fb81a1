import type { Fault } from './fault.ts';

/** Starts the proxy again in the other mode. It stays in that mode. */
export const modeSwitch: Fault<Record<string, never>> = {
  name: 'mode-switch',
  target: 'proxy',
  impairs: ['knowledge'],
  recoveryMs: 30_000,
  choose: () => ({}),
  async run({ proxy }) {
    proxy.mode = proxy.mode === 'nftables' ? 'iptables' : 'nftables';
    await proxy.stop();
    proxy.configure();
    proxy.start();
  },
};
