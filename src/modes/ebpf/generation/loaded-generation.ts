import { Breaks } from '../../../lib/breaks.ts';
import type { Attachment } from '../links/attachment.ts';
import type { LoadedPrograms } from '../links/socket-links.ts';
import type { StateMapName } from '../names.ts';
import type { ProgramOptions } from '../programs/index.ts';
import { capacityFor } from './capacity.ts';
import { type FamilyContents, withNewNumbers } from './contents.ts';
import type { Features } from './features.ts';
import { Generation } from './generation.ts';
import { closePrograms, loadPrograms, withCounts } from './load-programs.ts';
import type { GenerationMaps, StateMaps } from './maps.ts';

/** What a generation is made from. */
export interface GenerationSource {
  /** The generation that serves now. It must not change meanwhile. */
  readonly former: Generation | undefined;
  readonly contents: readonly FamilyContents[];
  readonly features: Features;
  readonly program: ProgramOptions;
}

/** A generation that is filled, and its programs. */
export class LoadedGeneration {
  readonly generation: Generation;
  #programs: LoadedPrograms;
  /** The maps that the programs share with other generations. */
  readonly state: readonly StateMapName[];

  private constructor(generation: Generation, programs: LoadedPrograms, state: readonly StateMapName[]) {
    this.generation = generation;
    this.#programs = programs;
    this.state = state;
  }

  get programs(): LoadedPrograms {
    return this.#programs;
  }

  /** Fills new maps and loads programs that refer to them. Attaches nothing. */
  static async make({ state }: Attachment, source: GenerationSource): Promise<LoadedGeneration> {
    const { former, contents, features, program } = source;
    const names = stateMapsFor(features);
    state.keep(names);
    const capacity = capacityFor(contents);
    const breaks = new Breaks();
    const generation = new Generation(capacity, features, state.maps);
    try {
      if (breaks.isDue) await breaks.take();
      if (former?.hasNumbersFor(contents, capacity)) await generation.fill(contents, former);
      else await generation.fill(contents.map(each => withNewNumbers(each, former)));
      // The verifier takes some milliseconds, too.
      await breaks.take();
      return new LoadedGeneration(generation, loadWith(program, state.maps, generation.maps), names);
    } catch (error) {
      generation.close();
      throw error;
    }
  }

  /** Makes room for new runs of slots: attaches programs that use new maps for them. */
  async renewSlots({ state, links }: Attachment, program: ProgramOptions): Promise<void> {
    await this.generation.renewSlots(maps => {
      const programs = loadWith(program, state.maps, maps);
      try {
        links.install(programs);
      } catch (error) {
        closePrograms(programs);
        throw error;
      }
      closePrograms(this.#programs);
      this.#programs = programs;
    });
  }

  /** Programs that are attached stay, with their maps. */
  close(): void {
    this.generation.close();
    closePrograms(this.#programs);
  }
}

function loadWith(options: ProgramOptions, state: StateMaps, own: GenerationMaps): LoadedPrograms {
  const maps: ReadonlyMap<string, { readonly fd: number }> = new Map([...state, ...own]);
  return loadPrograms(withCounts(options, state), name => {
    const map = maps.get(name);
    if (!map) throw new RangeError(`there is no map ${name}`);
    return map.fd;
  });
}

function stateMapsFor({ affinity, leastConnections }: Features): readonly StateMapName[] {
  const names: StateMapName[] = ['peers'];
  if (affinity) names.push('affinity4', 'affinity6');
  if (leastConnections) names.push('active4', 'active6');
  return names;
}
