import { NONE } from '../../lib/none.ts';
import type { LoadBalancerIngress } from '../objects.ts';
import { append, finish, type GrowingList } from './growing-list.ts';
import { lengthKey, type ProtobufReader } from './reader.ts';

const LOAD_BALANCER = lengthKey(1);

export function decodeServiceStatus(reader: ProtobufReader): readonly LoadBalancerIngress[] {
  let ingress: readonly LoadBalancerIngress[] = NONE;
  while (reader.next()) {
    if (reader.key === LOAD_BALANCER) ingress = reader.message(decodeLoadBalancer, 'loadBalancer');
    else reader.skip();
  }
  return ingress;
}

const INGRESS = lengthKey(1);

function decodeLoadBalancer(reader: ProtobufReader): readonly LoadBalancerIngress[] {
  let ingress: GrowingList<LoadBalancerIngress> = NONE;
  while (reader.next()) {
    if (reader.key === INGRESS) ingress = append(ingress, reader.message(decodeIngress, 'ingress', ingress.length));
    else reader.skip();
  }
  return finish(ingress);
}

const IP = lengthKey(1);
const IP_MODE = lengthKey(3);

function decodeIngress(reader: ProtobufReader): LoadBalancerIngress {
  let ip = '';
  let ipMode: string | undefined;
  while (reader.next()) {
    if (reader.key === IP) ip = reader.string();
    else if (reader.key === IP_MODE) ipMode = reader.name();
    else reader.skip();
  }
  return { ip, ipMode };
}
