import type { Fault } from './fault.ts';

export const restart: Fault<Record<string, never>> = {
  name: 'restart',
  target: 'proxy',
  impairs: ['knowledge'],
  recoveryMs: 20_000,
  choose: () => ({}),
  run: ({ proxy }) => proxy.restart('SIGTERM'),
};
