import { useEffect, useRef, useState } from 'preact/hooks';
import { onLive } from '../../../state/live.ts';
import type { Picture } from './model.ts';
import { NOTHING_OBSERVED, type Observed, observe } from './observed.ts';

/** Real connections to the Service since the page shows it. */
export function useObserved(service: string, picture: Picture): Observed {
  const [observed, setObserved] = useState(NOTHING_OBSERVED);
  const latest = useRef(picture);
  latest.current = picture;
  useEffect(() => {
    setObserved(NOTHING_OBSERVED);
    return onLive('observed', ({ connections }) => {
      const own = connections.filter(connection => connection.service === service);
      if (own.length > 0) setObserved(before => observe(before, own, latest.current));
    });
  }, [service]);
  return observed;
}
