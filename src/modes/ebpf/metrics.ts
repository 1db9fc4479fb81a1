import type { MetricSet, Sample } from '../../observe/metrics/index.ts';
import type { MeasureObserver } from '../mode.ts';
import type { Translation } from './generation/translation.ts';

const MAP = ['map'] as const;

/** All metrics of this mode are our own. They are read at each scrape. */
export function ebpfMetrics(set: MetricSet, translation: Pick<Translation, 'generations' | 'usage'>): MeasureObserver {
  set.readCounter(
    'pointsman_socket_generations_total',
    'How often the proxy made the maps and programs at sockets anew.',
    () => translation.generations,
  );
  const samples = (value: 'used' | 'capacity') => async (): Promise<Sample<'map'>[]> =>
    Array.from(translation.usage(), usage => ({ labels: { map: usage.map }, value: usage[value] }));
  set.readGauges(
    'pointsman_socket_map_entries',
    MAP,
    'Entries of the maps at sockets that are in use. A map that is full is made anew.',
    samples('used'),
  );
  set.readGauges(
    'pointsman_socket_map_capacity',
    MAP,
    'How many entries the maps at sockets can hold.',
    samples('capacity'),
  );
  return () => {};
}
