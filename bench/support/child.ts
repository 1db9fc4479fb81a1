import { fork } from 'node:child_process';

/** One measurement that a child process makes. */
export interface Task {
  readonly name: string;
  readonly argument: unknown;
}

/** Runs a task in a new process of this program, so that the memory and the warm heap of other tasks do not count. */
export function runInChild<T>(task: Task): Promise<T> {
  return new Promise((resolve, reject) => {
    const child = fork(process.argv[1] ?? '', ['--task', JSON.stringify(task)]);
    let result: { readonly value: T } | undefined;
    child.on('message', (message: { readonly value: T }) => {
      result = message;
    });
    child.on('error', reject);
    child.on('exit', (status, signal) => {
      if (result) resolve(result.value);
      else reject(new Error(`the task ${task.name} ended with ${signal ?? `status ${status}`} and without a result`));
    });
  });
}

/** In a child process: performs its task and sends the result. Elsewhere: runs `main`. */
export async function performTaskOr(
  main: () => Promise<void>,
  perform: (task: Task) => Promise<unknown>,
): Promise<void> {
  const at = process.argv.indexOf('--task');
  if (at < 0) return main();
  const value = await perform(JSON.parse(process.argv[at + 1] ?? ''));
  process.send?.({ value });
  process.disconnect();
}
