import { formatAddress, serviceAddress } from '../../address.ts';
import type { ApiError } from '../../api.ts';
import { Loading } from '../../parts/notes.tsx';
import { capitalized } from '../../parts/texts.ts';
import { services, servicesVersion } from '../../state/services.ts';
import { HistoryTab } from './history/history-tab.tsx';
import type { ServiceHistory } from './history/use-history.ts';
import { similarService } from './similar-service.ts';

interface MissingServiceProps {
  /** `ns/name` */
  readonly service: string;
  readonly error: ApiError;
  readonly history: ServiceHistory;
}

/** The Service is gone and has a history, or there never was one of this name. */
export function MissingService({ service, error, history }: MissingServiceProps) {
  const isAsked = history.rows !== undefined || history.error !== undefined;
  const hasHistory = history.rows !== undefined && history.rows.length > 0;
  return (
    <div class="view service">
      <div class="view-head">
        <h1>
          <bdi>{service}</bdi>
        </h1>
        <span class="badge bad">
          <span aria-hidden="true">✕</span>
          {hasHistory ? 'gone' : 'unknown'}
        </span>
      </div>
      {!isAsked && <Loading what="the history" lines={6} />}
      {hasHistory && (
        <>
          <div class="note warn" role="status">
            <strong>This Service is gone.</strong>
            <span class="quiet">Its last changes are below. If it comes back, this page shows it at once.</span>
          </div>
          <HistoryTab history={history} />
        </>
      )}
      {isAsked && !hasHistory && <Unknown service={service} error={error} />}
    </div>
  );
}

function Unknown({ service, error }: { readonly service: string; readonly error: ApiError }) {
  const similar = servicesVersion.value >= 0 ? similarService(service, services.keys()) : undefined;
  return (
    <div class="note bad" role="alert">
      <strong>{capitalized(error.message)}</strong>
      {similar !== undefined && <a href={serviceAddress(similar)}>Go to {similar}</a>}
      <a href={formatAddress({ view: 'services' })}>All Services</a>
    </div>
  );
}
