import { setTheme, THEMES, type Theme, theme } from '../state/theme.ts';

const SIGNS: Readonly<Record<Theme, string>> = { system: '◐', light: '☀', dark: '☾' };

/** Goes through: as the system, light, dark. */
export function ThemeButton() {
  const current = theme.value;
  const next = THEMES[(THEMES.indexOf(current) + 1) % THEMES.length] ?? 'system';
  const label = `Colours: ${current}. Switch to ${next}.`;
  return (
    <button type="button" class="plain icon-button" aria-label={label} title={label} onClick={() => setTheme(next)}>
      <span aria-hidden="true">{SIGNS[current]}</span>
    </button>
  );
}
