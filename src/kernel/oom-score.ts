import { writeFileSync } from 'node:fs';
import { fileError } from './file-error.ts';

/** Sets how readily the kernel kills this process when memory runs out: from -1000 (never) to 1000. */
export function setOomScore(score: number): void {
  try {
    writeFileSync('/proc/self/oom_score_adj', `${score}`);
  } catch (error) {
    throw fileError(`set oom_score_adj to ${score}`, error);
  }
}
