/**
 * Runs the work of a bench, closes everything, and ends the process. A signal closes everything, too. The work then fails
 * because its programs are gone, which is not reported.
 */
export async function runAndClose(work: () => Promise<void>, close: () => Promise<void>): Promise<never> {
  let isEnding = false;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      isEnding = true;
      void close().finally(() => process.exit(1));
    });
  }
  try {
    await work();
  } catch (error) {
    if (isEnding) await new Promise(() => {});
    console.error(error);
    process.exitCode = 1;
  }
  await close();
  process.exit();
}
