import type { PortKernelDetail } from '../../../../../inspect/index.ts';
import { durationWords } from '../../../../../lib/duration-words.ts';

const FIRST_ROWS = 100;

/** The clients that session affinity leads to one endpoint. */
export function AffinityTable({ clients }: { readonly clients: PortKernelDetail['affinity'] }) {
  const rest = clients.length - FIRST_ROWS;
  return (
    <section class="affinity">
      <h2>{`Session affinity: ${clients.length.toLocaleString('en')} pinned ${clients.length === 1 ? 'client' : 'clients'}`}</h2>
      <div class="table-box">
        <table>
          <thead>
            <tr>
              <th scope="col">Client</th>
              <th scope="col">Endpoint</th>
              <th scope="col" class="number">
                Ends in
              </th>
            </tr>
          </thead>
          <tbody>
            {clients.slice(0, FIRST_ROWS).map(({ client, endpoint, secondsLeft }) => (
              <tr key={`${client} ${endpoint}`}>
                <td class="mono">{client}</td>
                <td class="mono">{endpoint}</td>
                <td class="number">{secondsLeft === undefined ? '–' : durationWords(secondsLeft)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {rest > 0 && <p class="quiet">{`${rest.toLocaleString('en')} more clients are not shown.`}</p>}
    </section>
  );
}
