import { damageSuite, iptablesDrop, missing, PINNED } from './damage-suite.ts';

damageSuite('ipvs', 'ipvs', [
  missing(
    'a virtual server is deleted',
    'ipvsadm -D -t 10.96.0.10:80',
    /^The kernel differs from the plan: virtual server missing in ipvs/,
  ),
  missing(
    'the scheduler of a virtual server is changed',
    'ipvsadm -E -t 10.96.0.10:80 -s lc',
    /^The kernel differs from the plan: virtual server different in ipvs/,
  ),
  iptablesDrop('iptables-legacy', 'OUTPUT'),
  PINNED,
]);
