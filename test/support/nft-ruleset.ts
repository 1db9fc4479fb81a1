import assert from 'node:assert/strict';
import {
  type Chain,
  dataBytes,
  type Element,
  type NftablesSocket,
  type NftMap,
  type NftSet,
  type Rule,
  type Table,
  Transaction,
} from '../../src/kernel/nftables/index.ts';

// A table with every kind of object, and how nft lists it.

export const table: Table = { kind: 'table', family: 'ip', name: 'kp', comment: 'rules for kube-proxy' };
export const cidrs: NftSet = {
  kind: 'set',
  name: 'cidrs',
  type: ['ipv4_addr'],
  flags: ['interval'],
  comment: 'ranges',
};
export const fields: NftSet = { kind: 'set', name: 'fields', type: ['ipv4_addr', 'inet_service'], flags: ['interval'] };
export const affinity: NftSet = {
  kind: 'set',
  name: 'affinity',
  type: ['ipv4_addr'],
  flags: ['dynamic', 'timeout'],
  timeout: 10_800_000,
  gcInterval: 5000,
  size: 65535,
};
export const nics: NftSet = { kind: 'set', name: 'nics', type: ['ifname'] };
export const services: NftMap = {
  kind: 'map',
  name: 'services',
  type: ['ipv4_addr', 'inet_proto', 'inet_service'],
  data: ['verdict'],
  comment: 'by address',
};
export const endpoints: NftMap = {
  kind: 'map',
  name: 'endpoints',
  type: ['ipv4_addr', 'inet_proto', 'inet_service', 'mark'],
  data: ['ipv4_addr', 'inet_service'],
};
export const marks: NftMap = { kind: 'map', name: 'marks', type: ['mark'], data: ['ipv4_addr'] };
export const sets = [cidrs, fields, affinity, nics, services, endpoints, marks];

export const chains: readonly Chain[] = [
  {
    kind: 'chain',
    name: 'nat-prerouting',
    base: { type: 'nat', hook: 'prerouting', priority: -100 },
    comment: 'translates',
  },
  { kind: 'chain', name: 'filter-input', base: { type: 'filter', hook: 'input', priority: 0, policy: 'drop' } },
  { kind: 'chain', name: 'pick', comment: 'regular' },
];
export const rules: readonly Rule[] = [
  {
    kind: 'rule',
    chain: 'nat-prerouting',
    expressions: [{ kind: 'verdict', verdict: { kind: 'jump', chain: 'pick' } }],
    comment: 'to pick',
  },
  { kind: 'rule', chain: 'pick', expressions: [{ kind: 'verdict', verdict: { kind: 'accept' } }] },
];

export function element(
  set: NftSet | NftMap,
  values: readonly (string | number)[],
  rest: Partial<Element> = {},
): Element {
  return { kind: 'element', key: dataBytes(set.type, values), ...rest };
}
export const address = (ip: string): Buffer => dataBytes(['ipv4_addr'], [ip]);

export const elements = new Map<NftSet | NftMap, readonly Element[]>([
  [
    cidrs,
    [
      element(cidrs, ['0.0.0.0'], { keyEnd: address('0.255.255.255') }),
      element(cidrs, ['1.1.1.1'], { comment: 'one' }),
      element(cidrs, ['10.0.0.0'], { keyEnd: address('10.255.255.255') }),
      element(cidrs, ['11.0.0.0'], { keyEnd: address('11.0.0.9') }),
      element(cidrs, ['255.255.255.0'], { keyEnd: address('255.255.255.255'), comment: 'last' }),
    ],
  ],
  [
    fields,
    [
      element(fields, ['10.0.0.0', 80], { keyEnd: dataBytes(fields.type, ['10.255.255.255', 90]) }),
      element(fields, ['1.1.1.1', 5]),
    ],
  ],
  [nics, [element(nics, ['eth0'])]],
  [
    services,
    [
      element(services, ['10.96.0.10', 'tcp', 80], {
        verdict: { kind: 'goto', chain: 'pick' },
        comment: 'default/web',
      }),
      element(services, ['10.96.0.11', 'udp', 53], { verdict: { kind: 'drop' } }),
    ],
  ],
  [
    endpoints,
    [
      element(endpoints, ['10.96.0.10', 'tcp', 80, 1], {
        data: dataBytes(endpoints.data, ['10.244.1.2', 8080]),
      }),
    ],
  ],
  [marks, [element(marks, [16], { data: address('1.2.3.4') })]],
]);

export function everything(): Transaction {
  const transaction = new Transaction('ip', 'kp').add(table);
  for (const object of [...chains, ...sets, ...rules]) transaction.add(object);
  for (const [set, list] of elements) transaction.addElements(set, list);
  return transaction;
}

export const LISTING = `table ip kp {
	comment "rules for kube-proxy"
	set cidrs {
		type ipv4_addr
		flags interval
		comment "ranges"
		elements = { 0.0.0.0/8, 1.1.1.1 comment "one",
			     10.0.0.0/8, 11.0.0.0-11.0.0.9,
			     255.255.255.0/24 comment "last" }
	}

	set fields {
		type ipv4_addr . inet_service
		flags interval
		elements = { 10.0.0.0/8 . 80-90,
			     1.1.1.1 . 5 }
	}

	set affinity {
		type ipv4_addr
		size 65535
		flags dynamic,timeout
		timeout 3h
		gc-interval 5s
	}

	set nics {
		type ifname
		elements = { "eth0" }
	}

	map services {
		type ipv4_addr . inet_proto . inet_service : verdict
		comment "by address"
		elements = { 10.96.0.11 . udp . 53 : drop,
			     10.96.0.10 . tcp . 80 comment "default/web" : goto pick }
	}

	map endpoints {
		type ipv4_addr . inet_proto . inet_service . mark : ipv4_addr . inet_service
		elements = { 10.96.0.10 . tcp . 80 . 0x00000001 : 10.244.1.2 . 8080 }
	}

	map marks {
		type mark : ipv4_addr
		elements = { 0x00000010 : 1.2.3.4 }
	}

	chain nat-prerouting {
		comment "translates"
		type nat hook prerouting priority dstnat; policy accept;
		jump pick comment "to pick"
	}

	chain filter-input {
		type filter hook input priority filter; policy drop;
	}

	chain pick {
		comment "regular"
		accept
	}
}
`;

/** An object that the kernel listed, without the numbers that the kernel gave it. */
export function unnumbered<T extends { handle?: number; position?: number }>(
  object: T,
): Omit<T, 'handle' | 'position'> {
  const { handle, position, ...rest } = object;
  assert.equal(typeof handle, 'number');
  return rest;
}

export function sorted(list: Iterable<Element>): Element[] {
  return [...list].sort((a, b) => Buffer.compare(a.key, b.key));
}

export function assertHoldsEverything(socket: NftablesSocket): void {
  assert.deepEqual([...socket.listTables('ip')].map(unnumbered), [table]);
  assert.deepEqual([...socket.listChains('ip', 'kp')].map(unnumbered), chains);
  assert.deepEqual([...socket.listSets('ip', 'kp')].map(unnumbered), sets);
  assert.deepEqual([...socket.listRules('ip', 'kp')].map(unnumbered), rules);
  for (const [set, list] of elements) assert.deepEqual(sorted(socket.listElements('ip', 'kp', set)), sorted(list));
}

/** Sorts the elements between braces, because elements of hash tables come in any order. */
export function canonical(listing: string): string {
  return listing.replace(/elements = \{([^}]*)\}/g, (_, list: string) =>
    list
      .split(',')
      .map(part => part.trim())
      .sort()
      .join('; '),
  );
}
