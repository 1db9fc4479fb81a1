import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

export interface ProbeResult {
  readonly answers: number;
  readonly failures: number;
  readonly slowestMs: number;
}

const PAUSE_MS = 20;
const ANSWER_WITHIN_MS = 1000;
const MIN_ANSWERS = 6;
const ATTEMPTS = 3;

/**
 * Asserts that all probes during an attack were answered within a second. On a busy machine the prober or the server can
 * wait long for a processor, so there are three attempts. A server that the attack blocks fails each time.
 */
export async function assertAnsweredInTime(attack: () => Promise<ProbeResult>): Promise<void> {
  const results: ProbeResult[] = [];
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const result = await attack();
    assert.equal(result.failures, 0);
    if (result.slowestMs < ANSWER_WITHIN_MS && result.answers >= MIN_ANSWERS) return;
    results.push(result);
  }
  assert.fail(`too slow: ${JSON.stringify(results)}`);
}

/** The program of the prober. It prints a line after the first answer, and the result on the first input. */
const PROGRAM = `
const { get } = require('node:http');
const { port, path } = JSON.parse(process.argv[1]);
const result = { answers: 0, failures: 0, slowestMs: 0 };
let isStopping = false;
function probe() {
  const start = performance.now();
  const end = key => {
    result[key]++;
    result.slowestMs = Math.max(result.slowestMs, performance.now() - start);
    if (result.answers + result.failures === 1) console.log('ready');
    if (isStopping) return process.stdout.write(JSON.stringify(result), () => process.exit());
    setTimeout(probe, ${PAUSE_MS});
  };
  get({ host: '127.0.0.1', port, path, agent: false }, response => {
    response.resume();
    response.on('end', () => end(response.statusCode === 200 ? 'answers' : 'failures'));
  }).on('error', () => end('failures'));
}
probe();
process.stdin.on('data', () => { isStopping = true; });
`;

/** Probes a server on 127.0.0.1 as the kubelet does, with one connection for each probe, from a process of its own. */
export class HttpProber {
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  /** Resolves after the first answer. */
  static async start(port: number, path: string): Promise<HttpProber> {
    const child = spawn(process.execPath, ['-e', PROGRAM, JSON.stringify({ port, path })], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const prober = new HttpProber(child);
    await prober.#output();
    return prober;
  }

  /** Resolves after the probe that runs. */
  async stop(): Promise<ProbeResult> {
    this.#child.stdin?.write('stop');
    return JSON.parse(await this.#output());
  }

  /** Ends the process of the prober, if it still runs. */
  close(): void {
    this.#child.kill('SIGKILL');
  }

  async #output(): Promise<string> {
    if (!this.#child.stdout) throw new Error('the prober has no output');
    const [data] = await once(this.#child.stdout, 'data');
    return String(data);
  }
}
