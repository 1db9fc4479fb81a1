import { BpfProgram, type Hook, mapInfo, programInfo } from '../../../kernel/bpf/index.ts';
import type { LoadedProgram, LoadedPrograms } from '../links/socket-links.ts';
import { type ProgramOptions, socketPrograms } from '../programs/index.ts';
import type { StateMaps } from './maps.ts';

/** Loads all programs of a generation, or none. `descriptor` returns the descriptor of a map. */
export function loadPrograms(options: ProgramOptions, descriptor: (map: string) => number): LoadedPrograms {
  const loaded = new Map<Hook, LoadedProgram>();
  try {
    for (const spec of socketPrograms(options)) {
      const program = BpfProgram.load(spec, descriptor);
      loaded.set(spec.hook, { program, id: programInfo(program.fd).id });
    }
    return loaded;
  } catch (error) {
    closePrograms(loaded);
    throw error;
  }
}

/** Programs that count must know which maps they count in. */
export function withCounts(options: ProgramOptions, state: StateMaps): ProgramOptions {
  const map = state.get('active4');
  return map ? { ...options, countedBy: mapInfo(map.fd).id } : options;
}

export function closePrograms(programs: LoadedPrograms): void {
  for (const { program } of programs.values()) program.close();
}
