import type { Ip } from '../../../net/index.ts';
import type { Frontend } from '../../../plan/index.ts';
import type { Claim, PortClaims } from './port-reservations.ts';
import { isOneAddress, type RenderOptions } from '../render.ts';

interface Claimant {
  readonly id: string;
  readonly protocol: 'TCP' | 'UDP';
  /** This machine's addresses. */
  readonly all: ReadonlySet<Ip> | undefined;
  readonly ranges: RenderOptions['nodePortRanges'];
}

export interface ClaimedFrontends {
  readonly frontends: readonly Frontend[];
  readonly claims: readonly Claim[];
  /** Why frontends are left out. */
  readonly problem: string | undefined;
}

/** Claims the ports of this machine that a service port takes. Frontends whose ports other programs have are left out. */
export function claimFrontends(
  ports: Pick<PortClaims, 'claim'>,
  frontends: readonly Frontend[],
  claimant: Claimant,
): ClaimedFrontends {
  const claims: Claim[] = [];
  let problem: string | undefined;
  const had = frontends.filter(frontend => {
    const wanted = claimsOf(frontend, claimant);
    const errors = wanted.flatMap(claim => ports.claim(claimant.id, claim) ?? []);
    const error = errors.find(({ errno }) => errno !== 'EADDRNOTAVAIL');
    if (error) problem = error.errno === 'EADDRINUSE' ? `${error.message}; another program has it` : error.message;
    else claims.push(...wanted);
    return !error;
  });
  return { frontends: had, claims, problem };
}

function claimsOf({ ip, port }: Frontend, { protocol, all, ranges }: Claimant): readonly Claim[] {
  if (ip !== undefined) return all?.has(ip) ? [{ protocol, ip, port }] : [];
  if (!ranges) return [{ protocol, ip: undefined, port }];
  const single = ranges.filter(range => isOneAddress(range));
  return single.map(({ address }) => ({ protocol, ip: address, port }));
}
