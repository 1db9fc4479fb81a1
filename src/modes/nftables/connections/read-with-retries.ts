/** The kernel breaks a reading off when any program changes the ruleset. */
const ATTEMPTS = 3;

/** Returns undefined if no attempt to read succeeded. */
export async function readWithRetries<T>(read: () => Promise<T>): Promise<T | undefined> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    try {
      return await read();
    } catch {
      // The next attempt reads again.
    }
  }
  return undefined;
}
