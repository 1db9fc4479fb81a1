import { MODES, type ModeName } from '../world/modes.ts';
import type { World } from '../world/world.ts';
import type { Fault } from './fault.ts';

/** Starts the proxy again in another mode. It stays in that mode. */
export const modeSwitch: Fault<{ readonly to: string }> = {
  name: 'mode-switch',
  target: 'proxy',
  impairs: ['knowledge'],
  recoveryMs: 30_000,
  stopsProxy: true,
  choose: random => ({ to: random.pick(MODES) }),
  async run(world, { to }) {
    const { proxy, log } = world;
    proxy.mode = nextMode(world, to);
    log.note(`the proxy changes to ${proxy.mode} mode`);
    await proxy.stop();
    proxy.configure();
    proxy.start();
  },
};

/** If the proxy is in this mode already, or the machine does not have it, the next one in the list. */
function nextMode({ proxy, modes }: World, to: string): ModeName {
  const names: readonly string[] = MODES;
  const first = names.indexOf(to);
  const inOrder = [...MODES.slice(first), ...MODES.slice(0, first)];
  return inOrder.find(mode => mode !== proxy.mode && modes.includes(mode)) ?? proxy.mode;
}
