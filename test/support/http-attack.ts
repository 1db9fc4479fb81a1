import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

export interface HttpAttack {
  readonly port: number;
  readonly connections: number;
  /** The source address, by default 127.0.0.1. */
  readonly from?: string;
  /** Each connection sends this text once. */
  readonly send?: string;
  /** Afterwards each connection sends this text again and again. */
  readonly trickle?: string;
  /** Reads the answers and ignores them. By default the attacker never reads. */
  readonly reads?: boolean;
  /** Opens a new connection for each one that is closed. */
  readonly reconnects?: boolean;
}

const TRICKLE_MS = 100;

/** The program of the attacker. It prints one line when its connections are open, and counts those on each line it gets. */
const PROGRAM = `
const { connect } = require('node:net');
const { port, connections, from, send, trickle, reads, reconnects } = JSON.parse(process.argv[1]);
const open = new Set();
let connected = 0;
function attack() {
  const socket = connect({ port, host: '127.0.0.1', localAddress: from });
  socket.on('error', () => {});
  socket.on('close', () => {
    open.delete(socket);
    if (reconnects) setTimeout(attack, 1);
  });
  socket.on('connect', () => {
    open.add(socket);
    if (reads) socket.resume();
    if (send) socket.write(send);
    if (++connected === connections) console.log('ready');
  });
}
for (let i = 0; i < connections; i++) attack();
if (trickle) setInterval(() => open.forEach(socket => socket.write(trickle)), ${TRICKLE_MS});
process.stdin.on('data', () => console.log(open.size));
process.stdin.on('end', () => process.exit());
`;

/** Attacks a server on 127.0.0.1 from a process of its own, so that the attacker's work does not slow the server down. */
export class HttpAttacker {
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  /** Resolves when each connection has been open and has sent its text. */
  static async start(attack: HttpAttack): Promise<HttpAttacker> {
    const child = spawn(process.execPath, ['-e', PROGRAM, JSON.stringify({ from: '127.0.0.1', ...attack })], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const attacker = new HttpAttacker(child);
    await attacker.#line();
    return attacker;
  }

  /** The number of connections that the server has not closed. */
  async open(): Promise<number> {
    this.#child.stdin?.write('?');
    return Number(await this.#line());
  }

  async stop(): Promise<void> {
    const exited = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await exited;
  }

  async #line(): Promise<string> {
    if (!this.#child.stdout) throw new Error('the attacker has no output');
    const [data] = await once(this.#child.stdout, 'data');
    return String(data).trim();
  }
}
