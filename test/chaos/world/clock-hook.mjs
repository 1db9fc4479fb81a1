// Loaded into the process of the proxy with --import. The file that CHAOS_CLOCK names has a number of milliseconds.
// The wall clock of the process is ahead by it. Nothing outside of the process changes. Timers do not change, as with
// a real step of the clock.
import { readFileSync } from 'node:fs';

const file = process.env.CHAOS_CLOCK ?? '';
const RealDate = Date;
const realNow = Date.now.bind(Date);
let aheadMs = 0;

function look() {
  try {
    aheadMs = Number(readFileSync(file, 'utf8')) || 0;
  } catch {
    aheadMs = 0;
  }
}

look();
setInterval(look, 100).unref();

globalThis.Date = new Proxy(RealDate, {
  construct: (target, args, newTarget) =>
    Reflect.construct(target, args.length === 0 ? [realNow() + aheadMs] : args, newTarget),
  apply: () => new RealDate(realNow() + aheadMs).toString(),
  get: (target, name) => (name === 'now' ? () => realNow() + aheadMs : Reflect.get(target, name)),
});
