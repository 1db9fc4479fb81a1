import { Iptables } from '../../src/kernel/iptables/index.ts';

/** Milliseconds that iptables programs of this process have run. */
export class ProgramTimes {
  programs = 0;

  static watch(): ProgramTimes {
    const times = new ProgramTimes();
    const { open } = Iptables;
    Iptables.open = (family, options) =>
      open.call(Iptables, family, {
        ...options,
        onRun: run => {
          times.programs += run.durationMs;
          options?.onRun?.(run);
        },
      });
    return times;
  }
}
