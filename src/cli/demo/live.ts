import { type Demo, type DemoPage, Prober } from '../../demo/index.ts';
import type { Input, Io } from '../command.ts';
import { type ColorChoice, styleFor } from '../style.ts';
import { type Display, LineDisplay, ScreenDisplay } from './displays.ts';
import { type Key, keysOf } from './keys.ts';
import { counted, summaryOf, summaryText } from './summary.ts';

/** The wait before a redraw, because many results change at the same time. */
const REDRAW_MS = 50;
const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** What the demo shows, and how it starts. */
export interface DemoPlan {
  readonly manifests: string;
  /** The name of the mode. */
  readonly mode: string;
  readonly color: ColorChoice;
  start(changed: () => void): Promise<Demo>;
  /** Undefined if the operator wants no page. */
  openPage(demo: Demo): Promise<DemoPage | undefined>;
}

/** Runs the demo until a signal, or until the operator types q. Returns the exit status. */
export async function runLive({ manifests, mode, color, start, openPage }: DemoPlan, io: Io): Promise<number> {
  const isTerminal = io.stdout.isTTY === true && io.env.TERM !== 'dumb';
  const display = isTerminal ? new ScreenDisplay(io, styleFor(io.stdout, io.env, color)) : new LineDisplay(io);
  const stop = new AbortController();
  const removeListeners = stopOnSignals(stop, display);
  try {
    let prober: Prober | undefined;
    let problems: readonly string[] = [];
    const demo = await start(() => prober?.restartRound());
    const page = await openPage(demo).catch(async error => {
      await demo.close();
      throw error;
    });
    if (page) display.begin(page.url);
    const howToEnd = keyboardOf(io) && isTerminal ? 'q' : 'Ctrl-C';
    const redraw = new Redraw(() => {
      if (!prober) return;
      const { rows, callers } = prober.results;
      display.show({ manifests, mode, rows, callers, problems: demo.problems, howToEnd, pageUrl: page?.url });
    });
    process.on('SIGWINCH', redraw.soon);
    const stopReading = isTerminal ? readKeys(io, key => handleKey(key, stop, display, redraw)) : () => undefined;
    try {
      prober = new Prober(demo, redraw.soon, connections => page?.observed(connections));
      await prober.run(stop.signal);
    } finally {
      process.off('SIGWINCH', redraw.soon);
      redraw.cancel();
      stopReading();
      display.close();
      problems = demo.problems;
      page?.close();
      await demo.close();
    }
    const summary = summaryOf(prober.results.rows, problems);
    io.stdout.write(
      `${counted(summary.addresses, 'address', 'addresses')}, ${summaryText(summary)}; nothing stays behind.\n`,
    );
    return 0;
  } finally {
    removeListeners();
    display.close();
  }
}

/** The keyboard, if there is one. */
function keyboardOf({ stdin }: Io): Input | undefined {
  return stdin?.isTTY === true && stdin.setRawMode ? stdin : undefined;
}

/** Calls `onKey` for each key. Returns a function that undoes this. */
function readKeys(io: Io, onKey: (key: Key) => void): () => void {
  const keyboard = keyboardOf(io);
  if (!keyboard) return () => undefined;
  const read = (data: Buffer | string) => {
    for (const key of keysOf(String(data))) onKey(key);
  };
  const restore = () => keyboard.setRawMode?.(false);
  keyboard.setRawMode?.(true);
  keyboard.on('data', read);
  keyboard.resume();
  // An error that nobody catches must not leave the terminal without an echo.
  process.once('exit', restore);
  return () => {
    process.off('exit', restore);
    keyboard.off('data', read);
    keyboard.pause();
    restore();
  };
}

function handleKey(key: Key, stop: AbortController, display: Display, redraw: Redraw): void {
  if (key === 'quit') stop.abort();
  display.scroll(key);
  redraw.soon();
}

/**
 * The first signal ends the demo in good order. A second signal ends it at once. Returns a function that undoes this.
 */
function stopOnSignals(stop: AbortController, display: Display): () => void {
  const end = () => stop.abort();
  const restore = () => display.close();
  for (const signal of STOP_SIGNALS) process.once(signal, end);
  // The reader of a pipe may go away. This listener stays, because the last write may fail later.
  process.stdout.on('error', end);
  // Restores the terminal before Node prints the error. Otherwise the error would vanish with the screen.
  process.once('uncaughtExceptionMonitor', restore);
  process.once('exit', restore);
  return () => {
    for (const signal of STOP_SIGNALS) process.off(signal, end);
    process.off('uncaughtExceptionMonitor', restore);
    process.off('exit', restore);
  };
}

/** Draws once for all changes of a short time. */
class Redraw {
  readonly #draw: () => void;
  #timer: NodeJS.Timeout | undefined;

  constructor(draw: () => void) {
    this.#draw = draw;
  }

  readonly soon = (): void => {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#draw();
    }, REDRAW_MS);
  };

  cancel(): void {
    clearTimeout(this.#timer);
  }
}
