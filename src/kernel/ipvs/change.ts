import type { MessageWriter } from '../netlink/index.ts';
import {
  type Destination,
  type DestinationKey,
  encodeDestination,
  encodeDestinationKey,
  printDestination,
  printDestinationKey,
} from './destination.ts';
import { IpvsCommand } from './family.ts';
import { encodeService, printService, type Service } from './service.ts';
import { encodeServiceKey, printKey, type ServiceKey } from './service-key.ts';

/** A command to ip_vs that changes one virtual service or one destination. */
export type IpvsChange =
  | { readonly kind: 'new-service' | 'set-service'; readonly service: Service }
  | { readonly kind: 'del-service'; readonly service: ServiceKey }
  | { readonly kind: 'new-dest' | 'set-dest'; readonly service: ServiceKey; readonly destination: Destination }
  | { readonly kind: 'del-dest'; readonly service: ServiceKey; readonly destination: DestinationKey };

export const CHANGE_COMMANDS: Readonly<Record<IpvsChange['kind'], number>> = {
  'new-service': IpvsCommand.NEW_SERVICE,
  'set-service': IpvsCommand.SET_SERVICE,
  'del-service': IpvsCommand.DEL_SERVICE,
  'new-dest': IpvsCommand.NEW_DEST,
  'set-dest': IpvsCommand.SET_DEST,
  'del-dest': IpvsCommand.DEL_DEST,
};

export function encodeChange(writer: MessageWriter, change: IpvsChange): void {
  switch (change.kind) {
    case 'new-service':
    case 'set-service':
      encodeService(writer, change.service);
      return;
    case 'del-service':
      encodeServiceKey(writer, change.service);
      return;
    case 'new-dest':
    case 'set-dest':
      encodeServiceKey(writer, change.service);
      encodeDestination(writer, change.destination);
      return;
    case 'del-dest':
      encodeServiceKey(writer, change.service);
      encodeDestinationKey(writer, change.destination);
  }
}

/** The change as a line for `ipvsadm -R`. */
export function printChange(change: IpvsChange): string {
  switch (change.kind) {
    case 'new-service':
      return printService('-A', change.service);
    case 'set-service':
      return printService('-E', change.service);
    case 'del-service':
      return `-D ${printKey(change.service)}`;
    case 'new-dest':
      return printDestination('-a', change.service, change.destination);
    case 'set-dest':
      return printDestination('-e', change.service, change.destination);
    case 'del-dest':
      return `-d ${printKey(change.service)} -r ${printDestinationKey(change.destination)}`;
  }
}
