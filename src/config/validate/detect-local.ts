import { goJson } from '../../lib/go-json.ts';
import { goQuote } from '../../lib/go-quote.ts';
import { cidrFamily, parseCidr } from '../../net/index.ts';
import type { Configuration } from '../configuration.ts';
import { validateCidrs } from './cidrs.ts';
import { type FieldError, invalid } from './field-error.ts';

const MODES = ['ClusterCIDR', 'NodeCIDR', 'BridgeInterface', 'InterfaceNamePrefix', ''];

export function validateDetectLocalMode(path: string, mode: string): FieldError[] {
  return MODES.includes(mode) ? [] : [{ kind: 'unsupported', path, value: goQuote(mode), supported: MODES }];
}

/** Only what the mode uses is looked at. */
export function validateDetectLocal(path: string, mode: string, local: Configuration['detectLocal']): FieldError[] {
  switch (mode) {
    case 'BridgeInterface':
      return notEmpty(`${path}.InterfaceName`, local.bridgeInterface);
    case 'InterfaceNamePrefix':
      return notEmpty(`${path}.InterfacePrefix`, local.interfaceNamePrefix);
    case 'ClusterCIDR':
      return local.clusterCIDRs.length === 0 ? [] : validateClusterCidrs(`${path}.ClusterCIDRs`, local.clusterCIDRs);
    default:
      return [];
  }
}

function notEmpty(path: string, name: string): FieldError[] {
  return name === '' ? [invalid(path, goQuote(name), 'must not be empty')] : [];
}

/** One CIDR, or one of each family. */
function validateClusterCidrs(path: string, cidrs: readonly string[]): FieldError[] {
  const pair = 'must be a either a single CIDR or dual-stack pair of CIDRs (e.g. [10.100.0.0/16, fde4:8dba:82e1::/48]';
  const notAPair = invalid(path, goJson(cidrs), pair);
  if (cidrs.length > 2) return [notAPair];
  const wrong = validateCidrs(path, cidrs, 'must be a valid CIDR block (e.g. 10.100.0.0/16 or fde4:8dba:82e1::/48)');
  if (wrong.length > 0 || cidrs.length === 1) return wrong;
  const families = new Set(cidrs.map(parseCidr).flatMap(cidr => (cidr === undefined ? [] : [cidrFamily(cidr)])));
  return families.size === 2 ? [] : [notAPair];
}
