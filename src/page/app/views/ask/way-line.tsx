import { serviceAddress } from '../../address.ts';
import type { EndpointStation, Station, Way } from './way.ts';

/** Caller → frontend → endpoints, in one line or, on a narrow page, below each other. */
export function WayLine({ way: { caller, isAtSocket, frontend, end, endpoints, more } }: { readonly way: Way }) {
  return (
    <section class="ask-way" aria-label="The way of a new connection">
      {caller && <StationBox station={caller} />}
      {caller && <Arrow />}
      {frontend && <StationBox station={frontend} isAtSocket={isAtSocket} />}
      {(end || endpoints.length > 0) && <Arrow />}
      {end && <StationBox station={end} isBad />}
      {endpoints.length > 0 && (
        <table class="ask-endpoints">
          <caption class="spoken">Endpoints</caption>
          <thead>
            <tr>
              <th scope="col">Endpoint</th>
              <th scope="col">Odds</th>
              <th scope="col">Caller as seen</th>
              {endpoints.some(({ probe }) => probe) && <th scope="col">Probe</th>}
            </tr>
          </thead>
          <tbody>
            {endpoints.map(endpoint => (
              <EndpointRow key={endpoint.address} endpoint={endpoint} />
            ))}
            {more > 0 && (
              <tr>
                <td colSpan={4}>and {more} more</td>
              </tr>
            )}
          </tbody>
        </table>
      )}
    </section>
  );
}

function Arrow() {
  return (
    <span class="arrow" aria-hidden="true">
      →
    </span>
  );
}

function StationBox({
  station: { title, detail, service },
  isBad = false,
  isAtSocket = false,
}: {
  readonly station: Station;
  readonly isBad?: boolean;
  readonly isAtSocket?: boolean;
}) {
  return (
    <div class={isBad ? 'station bad' : 'station'}>
      <span class="title">{title}</span>
      <span class="detail">{detail}</span>
      {service !== undefined && <a href={serviceAddress(service)}>{service}</a>}
      {isAtSocket && <span class="badge accent">translated at the socket</span>}
    </div>
  );
}

function EndpointRow({ endpoint }: { readonly endpoint: EndpointStation }) {
  const { address, odds, isAsNode, seen, isLost, probe } = endpoint;
  return (
    <tr class={isLost ? 'bad' : undefined}>
      <th scope="row">{address}</th>
      <td class="odds">{odds}</td>
      <td>
        {isLost && '✕ '}
        {seen} {isAsNode && <span class="badge accent">as the node</span>}
      </td>
      {probe && (
        <td class={probe.isGood ? 'good' : probe.isInconclusive ? 'quiet' : 'bad'}>
          {probe.isGood ? '✓' : probe.isInconclusive ? '?' : '✕'} {probe.outcome},{' '}
          {probe.ms < 1 ? '<1' : Math.round(probe.ms)} ms
        </td>
      )}
    </tr>
  );
}
