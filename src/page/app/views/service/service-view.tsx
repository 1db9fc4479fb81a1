import './service.css';
import type { PortDetail, ServiceDetail } from '../../../../inspect/index.ts';
import { address, formatAddress, setParameters } from '../../address.ts';
import { EmptyNote, ErrorNote, Loading } from '../../parts/notes.tsx';
import { type Tab, Tabs } from '../../parts/tabs.tsx';
import { hello, lastFailure } from '../../state/live.ts';
import { services, servicesVersion } from '../../state/services.ts';
import { ConnectedTab } from './connected/connected-tab.tsx';
import { EndpointsTable } from './endpoints/endpoints-table.tsx';
import { ServiceHead } from './head/service-head.tsx';
import { HistoryTab } from './history/history-tab.tsx';
import { type ServiceHistory, useHistory } from './history/use-history.ts';
import { KernelTab } from './kernel/kernel-tab.tsx';
import { isMissing, useSource } from './load.ts';
import { MissingService } from './missing-service.tsx';
import { PictureView } from './picture/picture-view.tsx';
import type { Selection } from './picture/selection.ts';
import { PLACES } from './picture/words.ts';
import { chosenPort, portId, portText } from './port-choice.ts';
import { TrafficTab } from './traffic/traffic-tab.tsx';

const EVERY_MS = 1000;

/** Everything about one Service: `#/service/NAMESPACE/NAME`. */
export function ServiceView() {
  const [namespace = '', name = ''] = address.value.words;
  const key = `${namespace}/${name}`;
  return <Service key={key} namespace={namespace} name={name} />;
}

function Service({ namespace, name }: { readonly namespace: string; readonly name: string }) {
  const key = `${namespace}/${name}`;
  const source = useSource<ServiceDetail>({
    path: 'v1/service',
    parameters: { name: key },
    service: key,
    everyMs: EVERY_MS,
  });
  const history = useHistory(key);
  const { answer: answered, error } = source.state.value;
  // The stream says whether connections are counted, and so how much room the head needs.
  const isConnected = hello.value !== undefined || lastFailure.value !== undefined;
  const answer = isConnected ? answered : undefined;
  if (isMissing(error)) return <MissingService service={key} error={error} history={history} />;
  const { parameters } = address.value;
  const port = answer && chosenPort(answer.ports, { port: parameters.port, family: parameters.family });
  const selection = selectionOf(parameters);
  // The list knows counters and states a little earlier than the answer.
  const row = isConnected ? (servicesVersion.value >= 0 && services.get(key)) || answer?.row : undefined;
  return (
    <div class="view service">
      <ServiceHead {...{ namespace, name, row, detail: answer, port, selection }} />
      {error !== undefined && (
        <ErrorNote title="The page cannot read this Service." error={error} onRetry={source.readAgain} />
      )}
      {answer ? (
        <Body service={key} detail={answer} port={port} selection={selection} history={history} />
      ) : (
        error === undefined && <Loading what="the Service" lines={24} />
      )}
    </div>
  );
}

function selectionOf({ from, to }: Readonly<Record<string, string>>): Selection {
  return { from: PLACES.find(place => place === from), to };
}

interface BodyProps {
  readonly service: string;
  readonly detail: ServiceDetail;
  readonly port: PortDetail | undefined;
  readonly selection: Selection;
  readonly history: ServiceHistory;
}

function Body({ service, detail, port, selection, history }: BodyProps) {
  const { parameters } = address.value;
  const isKnown = port?.frontends.length;
  return (
    <>
      <Ports ports={detail.ports} chosen={port} />
      <h2 class="spoken">The way of a connection</h2>
      {port && isKnown ? (
        <PictureView
          service={service}
          port={port}
          selection={selection}
          onSelect={({ from, to }) => setParameters({ from: from ?? '', to: to ?? '' })}
          showsAllFrontends={parameters.addresses === 'all'}
          onShowFrontends={() => setParameters({ addresses: 'all' })}
          onShowEndpoints={() => setParameters({ tab: 'endpoints' })}
        />
      ) : (
        detail.row.state !== 'notProxied' && <EmptyNote title="The proxy serves no address of this Service." />
      )}
      <Details service={service} detail={detail} port={port} history={history} />
    </>
  );
}

/** One port and family at a time. */
function Ports({ ports, chosen }: { readonly ports: readonly PortDetail[]; readonly chosen: PortDetail | undefined }) {
  if (ports.length < 2) return null;
  const hasFamilies = new Set(ports.map(({ family }) => family)).size > 1;
  return (
    <nav class="toolbar ports" aria-label="Ports">
      {ports.map(port => (
        <a
          key={`${portId(port)} ${port.protocol} ${port.family}`}
          class="button"
          aria-current={port === chosen}
          href={portAddress(port, hasFamilies)}
        >
          {portText(port, hasFamilies)}
        </a>
      ))}
    </nav>
  );
}

/** The same tab of another port. What was chosen in the picture does not exist there. */
function portAddress(port: PortDetail, hasFamilies: boolean): string {
  const { parameters, ...rest } = address.value;
  const { from: _, to: __, ...kept } = parameters;
  return formatAddress({
    ...rest,
    parameters: { ...kept, port: portId(port), family: hasFamilies ? port.family : '' },
  });
}

function Details({ service, detail, port, history }: Omit<BodyProps, 'selection'>) {
  const tabs: readonly Tab[] = [
    { id: 'endpoints', text: `Endpoints${port ? ` ${port.endpointCount}` : ''}` },
    ...(hello.value?.countsConnections ? [{ id: 'traffic', text: 'Traffic' }] : []),
    ...(hello.value?.listsSockets ? [{ id: 'connected', text: 'Connected now' }] : []),
    { id: 'kernel', text: 'Kernel' },
    { id: 'history', text: 'History' },
  ];
  const wanted = address.value.parameters.tab ?? 'endpoints';
  const selected = tabs.some(({ id }) => id === wanted) ? wanted : 'endpoints';
  return (
    <Tabs label="More about the Service" tabs={tabs} selected={selected} onSelect={tab => setParameters({ tab })}>
      <h2 class="spoken">More about the Service</h2>
      <div class="tab-body">
        {selected === 'endpoints' &&
          (port ? (
            <EndpointsTable port={port} zone={detail.zone} />
          ) : (
            <EmptyNote title="The proxy serves no port of this Service." />
          ))}
        {selected === 'traffic' && <TrafficTab service={service} />}
        {selected === 'connected' && <ConnectedTab service={service} />}
        {selected === 'kernel' && <KernelTab service={service} />}
        {selected === 'history' && <HistoryTab history={history} />}
      </div>
    </Tabs>
  );
}
