import type { LiveHub } from './live-hub.ts';
import type { Route } from './route.ts';

const HEADERS = {
  'Content-Type': 'text/event-stream',
  'X-Content-Type-Options': 'nosniff',
  // A reverse proxy must not collect events.
  'X-Accel-Buffering': 'no',
};

export function liveRoute(hub: LiveHub): Route {
  return {
    path: '/v1/live',
    about: 'what changes, as server-sent events, without an end',
    answer: ({ disconnected }) => ({ status: 200, headers: HEADERS, body: hub.open(disconnected) }),
  };
}
