import type { LiveEvent } from '../../../inspect/index.ts';
import { addHistory } from './history.ts';
import { dispatch, status } from './live.ts';
import { addPulse, pulses } from './pulses.ts';
import { updateRates } from './rates.ts';
import type { ServiceList } from './service-list.ts';
import { changeServices, services } from './services.ts';

/** Brings an event into the state, and then to the views that listen. */
export function takeEvent(event: Exclude<LiveEvent, { kind: 'hello' }>, list: ServiceList | undefined): void {
  switch (event.kind) {
    case 'status':
      status.value = event.status;
      break;
    case 'rows':
      list?.noteLive(event);
      changeServices(event);
      break;
    case 'connections':
      updateRates(event, key => services.get(key)?.connections);
      break;
    case 'history':
      addHistory(event.entries);
      break;
    case 'pulse':
      pulses.value = addPulse(pulses.value, event.pulse);
      break;
    case 'relist':
      list?.request();
      break;
    case 'observed':
      break;
  }
  dispatch(event);
}
