import { type Ip, isLoopback } from '../../net/index.ts';

/** Throws for a loopback address: the rules could not send connections from outside to a proxy there. */
export function checkListenIP(ip: Ip | undefined): void {
  if (ip !== undefined && isLoopback(ip)) throw new RangeError(`cannot proxy on localhost: ${ip}`);
}
