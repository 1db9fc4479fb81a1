import { Iptables } from '../../src/kernel/iptables/index.ts';

/** How long the iptables programs of this process ran, in milliseconds. */
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
