import type { Facts } from '../explain/index.ts';
import { parseNamePattern } from '../lib/name-pattern.ts';
import { type SetAside, setAsideService } from '../modes/index.ts';
import type { ProgrammedState, ResourceVersions } from '../proxy/index.ts';
import { objectAnswer } from './answers.ts';
import type { Route } from './route.ts';

export const PROGRAMMED_SCHEMA = 'pointsman.programmed/v1';

/** The most service ports that are set aside and named. */
const MAX_SET_ASIDE = 100;

export interface ProgrammedAnswer {
  readonly schema: typeof PROGRAMMED_SCHEMA;
  readonly node: string;
  /** Some changes that the proxy has received are not in the kernel yet. */
  readonly pending: boolean;
  /** Everything up to these versions is in the kernel, except what is set aside. */
  readonly programmed: ResourceVersions;
  /** The proxy has received everything up to these versions. */
  readonly received: ResourceVersions;
  /** The first hundred service ports that the mode could not program. With `service`, only those of the Service. */
  readonly setAside: readonly SetAsidePort[];
  readonly setAsideCount: number;
  /** Only with the parameter `service`. */
  readonly service?: { readonly name: string; readonly known: boolean } | undefined;
}

export interface SetAsidePort extends Pick<SetAside, 'family' | 'port' | 'protocol'> {
  readonly service: string;
  readonly message: string;
}

export function programmedRoute(facts: () => Facts, state: () => ProgrammedState): Route {
  return {
    path: '/v1/programmed',
    about: 'the resource versions up to which everything is in the kernel',
    parameters: { service: { about: 'NAMESPACE/NAME, or NAME in the namespace default' } },
    answer(query) {
      const asked = query.get('service');
      const service = asked ? parseNamePattern(asked).text : undefined;
      const { nodeName, objects, setAside } = facts();
      const { programmed, received, isPending } = state();
      const aside = setAside.filter(port => service === undefined || setAsideService(port) === service);
      return objectAnswer(PROGRAMMED_SCHEMA, {
        node: nodeName,
        pending: isPending,
        programmed,
        received,
        setAside: aside.slice(0, MAX_SET_ASIDE).map(asidePort),
        setAsideCount: aside.length,
        ...(service !== undefined && { service: { name: service, known: objects.service(service) !== undefined } }),
      } satisfies Omit<ProgrammedAnswer, 'schema'>);
    },
  };
}

function asidePort(port: SetAside): SetAsidePort {
  const { family, port: name, protocol, cause } = port;
  return { service: setAsideService(port), port: name, protocol, family, message: cause.message };
}
