import { fork } from 'node:child_process';

/** What a child process is asked to measure. */
export interface Task {
  readonly name: string;
  readonly argument: unknown;
}

/** Runs the same program once more for one task, so that neither memory nor a warm heap of another task counts in it. */
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
      else reject(new Error(`${task.name} ended with ${signal ?? status} and no result`));
    });
  });
}

/** In a child: the task that it was started for. */
export function givenTask(): Task | undefined {
  const at = process.argv.indexOf('--task');
  return at < 0 ? undefined : JSON.parse(process.argv[at + 1] ?? '');
}

/** In a child: hands the result over. */
export function answer(value: unknown): void {
  process.send?.({ value });
  process.disconnect();
}
