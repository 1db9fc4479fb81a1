import { address } from './address.ts';
import { Navigation } from './parts/navigation.tsx';
import { TopBar } from './parts/top-bar.tsx';
import { AskView } from './views/ask/ask-view.tsx';
import { FleetView } from './views/fleet/fleet-view.tsx';
import { RulesView } from './views/rules/rules-view.tsx';
import { ServiceView } from './views/service/service-view.tsx';
import { ServicesView } from './views/services/services-view.tsx';
import { TimelineView } from './views/timeline/timeline-view.tsx';

/** The frame of the page, and the view that the address names. */
export function App() {
  return (
    <>
      <TopBar />
      <Navigation />
      <main id="main" tabIndex={-1}>
        <View />
      </main>
    </>
  );
}

function View() {
  switch (address.value.view) {
    case 'services':
      return <ServicesView />;
    case 'service':
      return <ServiceView />;
    case 'ask':
      return <AskView />;
    case 'timeline':
      return <TimelineView />;
    case 'rules':
      return <RulesView />;
    case 'fleet':
      return <FleetView />;
  }
}
