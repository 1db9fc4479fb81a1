import { KernelError } from '../errors.ts';
import { GENERIC_HEADER_LENGTH, GenericSocket } from '../genetlink/index.ts';
import type { Message, MessageWriter, Refusal, TransportOptions } from '../netlink/index.ts';
import { CHANGE_COMMANDS, encodeChange, type IpvsChange, printChange } from './change.ts';
import { type Config, decodeConfig, encodeConfig, printConfig } from './config.ts';
import { type Destination, type DestinationEntry, type DestinationKey, decodeDestination } from './destination.ts';
import { IPVS, IpvsCommand } from './family.ts';
import { decodeInfo, type Info } from './info.ts';
import { decodeService, type Service, type ServiceEntry } from './service.ts';
import { encodeServiceKey, keyFamily, printKey, type ServiceKey } from './service-key.ts';

/** The virtual services of one network namespace. */
export class IpvsSocket {
  readonly #generic: GenericSocket;

  constructor(generic: GenericSocket) {
    this.#generic = generic;
  }

  static open(options?: TransportOptions): IpvsSocket {
    return new IpvsSocket(GenericSocket.open(options));
  }

  info(): Info {
    return this.#one('ipvsadm --version', IpvsCommand.GET_INFO, decodeInfo);
  }

  services(): readonly ServiceEntry[] {
    return this.#list('ipvsadm -S -n', IpvsCommand.GET_SERVICE, undefined, decodeService);
  }

  /** All services, one at a time. Other work runs in between. Do not read two such lists at the same time. */
  async *streamServices(): AsyncGenerator<ServiceEntry> {
    for await (const { body } of this.#generic.stream(
      'ipvsadm -S -n',
      IPVS.name,
      IpvsCommand.GET_SERVICE,
      IPVS.version,
    )) {
      const service = decodeService(body, GENERIC_HEADER_LENGTH);
      if (service) yield service;
    }
  }

  /** The service with this key, or undefined if there is none. */
  service(key: ServiceKey): ServiceEntry | undefined {
    const operation = `ipvsadm -L -n ${printKey(key)}`;
    try {
      const messages = this.#request(operation, IpvsCommand.GET_SERVICE, writer => encodeServiceKey(writer, key));
      return messages.map(({ body }) => decodeService(body, GENERIC_HEADER_LENGTH)).find(service => service);
    } catch (error) {
      if (error instanceof KernelError && error.errno === 'ESRCH') return undefined;
      throw error;
    }
  }

  /** The destinations of a service. The kernel returns an empty list for a service that does not exist. */
  destinations(service: ServiceKey): readonly DestinationEntry[] {
    const operation = `ipvsadm -L -n ${printKey(service)}`;
    const write = (writer: MessageWriter) => encodeServiceKey(writer, service);
    const family = keyFamily(service);
    const decode = (body: Buffer, start: number) => decodeDestination(body, start, family);
    return this.#list(operation, IpvsCommand.GET_DEST, write, decode);
  }

  newService(service: Service): void {
    this.change({ kind: 'new-service', service });
  }

  setService(service: Service): void {
    this.change({ kind: 'set-service', service });
  }

  /** Deletes a service with its destinations. */
  deleteService(service: ServiceKey): void {
    this.change({ kind: 'del-service', service });
  }

  newDestination(service: ServiceKey, destination: Destination): void {
    this.change({ kind: 'new-dest', service, destination });
  }

  setDestination(service: ServiceKey, destination: Destination): void {
    this.change({ kind: 'set-dest', service, destination });
  }

  deleteDestination(service: ServiceKey, destination: DestinationKey): void {
    this.change({ kind: 'del-dest', service, destination });
  }

  change(change: IpvsChange): void {
    const write = (writer: MessageWriter) => encodeChange(writer, change);
    this.#request(`ipvsadm ${printChange(change)}`, CHANGE_COMMANDS[change.kind], write);
  }

  /** Applies many changes in order. Returns the changes that the kernel refused; it accepted all others. */
  apply(changes: readonly IpvsChange[]): Promise<readonly Refusal<IpvsChange>[]> {
    return this.#generic.bulk(IPVS.name, IPVS.version, changes, {
      command: change => CHANGE_COMMANDS[change.kind],
      write: encodeChange,
      print: change => `ipvsadm ${printChange(change)}`,
    });
  }

  config(): Config {
    return this.#one('ipvsadm -l --timeout', IpvsCommand.GET_CONFIG, decodeConfig);
  }

  setConfig(config: Config): void {
    const write = (writer: MessageWriter) => encodeConfig(writer, config);
    this.#request(`ipvsadm ${printConfig(config)}`, IpvsCommand.SET_CONFIG, write);
  }

  /** Sets the statistics of a service, or of all services, to zero. */
  zero(service?: ServiceKey): void {
    if (!service) this.#request('ipvsadm -Z', IpvsCommand.ZERO);
    else this.#request(`ipvsadm -Z ${printKey(service)}`, IpvsCommand.ZERO, w => encodeServiceKey(w, service));
  }

  /** Deletes every service. */
  flush(): void {
    this.#request('ipvsadm -C', IpvsCommand.FLUSH);
  }

  close(): void {
    this.#generic.close();
  }

  #request(operation: string, command: number, write?: (writer: MessageWriter) => void): readonly Message[] {
    return this.#generic.request(operation, IPVS.name, command, IPVS.version, write);
  }

  #one<T>(operation: string, command: number, decode: (body: Buffer, start: number) => T | undefined): T {
    const [message] = this.#request(operation, command);
    const answer = message && decode(message.body, GENERIC_HEADER_LENGTH);
    if (!answer) throw new KernelError('KERNEL_PROTOCOL', { operation, reason: 'the answer is empty' });
    return answer;
  }

  #list<T>(
    operation: string,
    command: number,
    write: ((writer: MessageWriter) => void) | undefined,
    decode: (body: Buffer, start: number) => T | undefined,
  ): readonly T[] {
    const found: T[] = [];
    for (const { body } of this.#generic.dump(operation, IPVS.name, command, IPVS.version, write)) {
      const object = decode(body, GENERIC_HEADER_LENGTH);
      if (object) found.push(object);
    }
    return found;
  }
}
