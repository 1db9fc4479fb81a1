import { setOomScore } from '../kernel/oom-score.ts';
import { errorText } from '../lib/error-text.ts';
import type { Logger } from '../observe/logging/index.ts';

/** Only root, or who has CAP_SYS_RESOURCE, may make the kernel kinder to a process; without it the proxy works too. */
export function setOwnOomScore(score: number | undefined, log: Logger): void {
  if (score === undefined) return;
  try {
    setOomScore(score);
  } catch (error) {
    log.v(2, 'server', 'Failed to apply OOMScore', { err: errorText(error) });
  }
}
