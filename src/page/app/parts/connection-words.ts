import { durationWords } from '../../../lib/duration-words.ts';
import type { ConnectionState } from '../state/live.ts';
import type { Tone } from './service-states.ts';

interface ConnectionWords {
  readonly sign: string;
  readonly text: string;
  readonly tone: Tone;
}

/** How fresh the data is. `ageMs` is undefined before the first data. */
export function connectionWords(state: ConnectionState, ageMs: number | undefined): ConnectionWords {
  const age = ageMs === undefined ? '' : `, data ${durationWords(Math.max(0, ageMs) / 1000)} old`;
  switch (state) {
    case 'connecting':
      return { sign: '○', text: 'connecting', tone: 'quiet' };
    case 'live':
      return { sign: '●', text: `live${age}`, tone: 'good' };
    case 'reconnecting':
      return { sign: '⟳', text: `reconnecting${age}`, tone: 'warn' };
    case 'paused':
      return { sign: '‖', text: `paused${age}`, tone: 'warn' };
    case 'denied':
      return { sign: '✕', text: 'needs a token', tone: 'bad' };
  }
}
