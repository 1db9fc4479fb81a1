import { type Demo, Prober } from '../../demo/index.ts';
import { printable } from '../../lib/printable.ts';
import type { Io } from '../command.ts';
import { styleFor } from '../style.ts';
import { PlainLines } from './plain-lines.ts';
import { Screen } from './screen.ts';
import { counted, summaryOf, summaryText } from './summary.ts';
import { tableLines, type View } from './table.ts';

/** The wait before a redraw, because many results change at the same time. */
const REDRAW_MS = 50;
const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Shows the results whenever they change. */
interface Display {
  show(view: View): void;
  /** Restores the terminal. */
  close(): void;
}

type StartDemo = (manifests: string, changed: () => void) => Promise<Demo>;

/** Runs the demo until a signal. Returns the exit status. */
export async function runLive(manifests: string, io: Io, startDemo: StartDemo): Promise<number> {
  const isTerminal = io.stdout.isTTY === true && io.env.TERM !== 'dumb';
  const display = isTerminal ? new ScreenDisplay(io) : new LineDisplay(io);
  const stop = new AbortController();
  const removeListeners = stopOnSignals(stop, display);
  try {
    let prober: Prober | undefined;
    const demo = await startDemo(manifests, () => prober?.restartRound());
    const redraw = new Redraw(() => {
      if (prober) display.show({ manifests, rows: prober.results.rows, problems: demo.problems });
    });
    process.on('SIGWINCH', redraw.soon);
    try {
      prober = new Prober(demo, redraw.soon);
      await prober.run(stop.signal);
    } finally {
      process.off('SIGWINCH', redraw.soon);
      redraw.cancel();
      display.close();
      await demo.close();
    }
    const summary = summaryOf(prober.results.rows);
    io.stdout.write(
      `${counted(summary.addresses, 'address', 'addresses')}, ${summaryText(summary)}; nothing stays behind.\n`,
    );
    return 0;
  } finally {
    removeListeners();
    display.close();
  }
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

class ScreenDisplay implements Display {
  readonly #screen: Screen;
  readonly #io: Io;

  constructor(io: Io) {
    this.#io = io;
    this.#screen = new Screen(io.stdout);
  }

  show(view: View): void {
    this.#screen.draw(tableLines(view, styleFor(this.#io.stdout, this.#io.env), this.#screen.width));
  }

  close(): void {
    this.#screen.close();
  }
}

class LineDisplay implements Display {
  readonly #io: Io;
  readonly #lines = new PlainLines();
  #problems: readonly string[] = [];

  constructor(io: Io) {
    this.#io = io;
  }

  show({ rows, problems }: View): void {
    for (const line of this.#lines.newLines(rows)) this.#io.stdout.write(`${line}\n`);
    for (const problem of problems)
      if (!this.#problems.includes(problem)) this.#io.stderr.write(`! ${printable(problem)}\n`);
    this.#problems = problems;
  }

  close(): void {
    // Printed lines stay.
  }
}
