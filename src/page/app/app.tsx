import { useEffect, useRef } from 'preact/hooks';
import { address } from './address.ts';
import { ConnectionBanner } from './parts/connection-banner.tsx';
import { HelpDialog } from './parts/help.tsx';
import { Navigation } from './parts/navigation.tsx';
import { TokenForm } from './parts/token-form.tsx';
import { TopBar } from './parts/top-bar.tsx';
import { announcement } from './state/announcements.ts';
import { connection, hello } from './state/live.ts';
import { pageInfo } from './state/page-info.ts';
import { documentTitle } from './titles.ts';
import { AskView } from './views/ask/ask-view.tsx';
import { FleetBar } from './views/fleet/fleet-bar.tsx';
import { FleetView } from './views/fleet/fleet-view.tsx';
import { RulesView } from './views/rules/rules-view.tsx';
import { ServiceView } from './views/service/service-view.tsx';
import { ServicesView } from './views/services/services-view.tsx';
import { TimelineView } from './views/timeline/timeline-view.tsx';

/** The frame of the page, and the view that the address names. */
export function App() {
  const main = useRef<HTMLElement>(null);
  useNavigationFocus(main);
  const isFleet = pageInfo.value?.view === 'fleet';
  return (
    <>
      <button type="button" class="skip-link" onClick={() => main.current?.focus()}>
        Skip to the content
      </button>
      {isFleet ? <FleetBar /> : <TopBar />}
      <Navigation />
      <ConnectionBanner />
      <main id="main" ref={main} tabIndex={-1}>
        {connection.value === 'denied' ? <TokenForm /> : isFleet ? <FleetView /> : <View />}
      </main>
      <HelpDialog />
      <div class="spoken" role="status" aria-live="polite">
        {announcement.value}
      </div>
    </>
  );
}

/** Names the document, and puts the focus on the heading of a new view, so that a screen reader reads it. */
function useNavigationFocus(main: { readonly current: HTMLElement | null }): void {
  const { view, words } = address.value;
  const place = [view, ...words].join('/');
  const title = documentTitle(address.value, hello.value?.node);
  const shown = useRef(place);
  useEffect(() => {
    document.title = title;
  }, [title]);
  useEffect(() => {
    if (shown.current === place) return;
    shown.current = place;
    main.current?.scrollTo(0, 0);
    main.current?.focus({ preventScroll: true });
    const timers = HEADING_MS.map(ms => setTimeout(() => focusHeading(main.current), ms));
    return () => timers.forEach(clearTimeout);
  }, [place]);
}

/** A view may draw its heading, or draw it again, when its data comes. */
const HEADING_MS = [0, 150, 600, 2000];

/** Leaves the focus alone if the operator has moved it. */
function focusHeading(main: HTMLElement | null): void {
  const { activeElement } = document;
  if (activeElement !== main && activeElement !== document.body) return;
  const heading = main?.querySelector('h1');
  heading?.setAttribute('tabindex', '-1');
  heading?.focus({ preventScroll: true });
}

function View() {
  const { view, words } = address.value;
  switch (view) {
    case 'services':
      return <ServicesView />;
    case 'service':
      return <ServiceView key={words.join('/')} />;
    case 'ask':
      return <AskView />;
    case 'timeline':
      return <TimelineView />;
    case 'rules':
      return <RulesView />;
    // One node has no such view.
    case 'fleet':
      return pageInfo.value ? <ServicesView /> : null;
  }
}
