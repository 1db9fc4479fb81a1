import { useCloseOutside } from '../use-close-outside.ts';
import './lights.css';
import { useRef } from 'preact/hooks';
import { address, setParameters } from '../../address.ts';
import { now } from '../../state/clock.ts';
import { status } from '../../state/live.ts';
import { type Light, lightsOf } from './lights.ts';
import { Reason } from './reason.tsx';

const SIGNS = { good: '●', warn: '▲', bad: '✕', quiet: '○' } as const;

/** Four lights. Each is a button that opens its reason; the address says which is open. */
export function LightBar() {
  const lights = lightsOf(status.value, now.value);
  const opened = lights.find(({ name }) => name === address.value.parameters.light)?.name;
  const bar = useRef<HTMLDivElement>(null);
  useCloseOutside(bar, opened !== undefined, () => setParameters({ light: '' }));
  const close = (event: KeyboardEvent) => {
    if (event.key !== 'Escape' || !opened) return;
    bar.current?.querySelector<HTMLElement>('[aria-expanded="true"]')?.focus();
    setParameters({ light: '' });
  };
  return (
    <div class="light-bar" ref={bar}>
      {lights.map(light => (
        <LightButton key={light.name} light={light} isOpen={light.name === opened} onKey={close} />
      ))}
      {opened && (
        <section
          class="reason"
          id="light-reason"
          aria-label="Reason of the light"
          ref={element => onEscape(element, close)}
        >
          <Reason light={opened} />
        </section>
      )}
    </div>
  );
}

interface LightButtonProps {
  readonly light: Light;
  readonly isOpen: boolean;
  readonly onKey: (event: KeyboardEvent) => void;
}

function LightButton({ light: { name, title, word, tone }, isOpen, onKey }: LightButtonProps) {
  return (
    <button
      type="button"
      class="light"
      aria-expanded={isOpen}
      aria-controls={isOpen ? 'light-reason' : undefined}
      onClick={() => setParameters({ light: isOpen ? '' : name })}
      onKeyDown={onKey}
    >
      <span class={tone} aria-hidden="true">
        {SIGNS[tone]}
      </span>
      {title} <span class={`light-word ${tone}`}>{word}</span>
    </button>
  );
}

function onEscape(element: HTMLElement | null, close: (event: KeyboardEvent) => void): void {
  if (element) element.onkeydown = close;
}
