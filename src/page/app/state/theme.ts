import { signal } from '@preact/signals';
import { readStored, writeStored } from './storage.ts';

export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

const KEY = 'pointsman.theme';

export const theme = signal<Theme>(THEMES.find(known => known === readStored('local', KEY)) ?? 'system');

export function setTheme(next: Theme): void {
  writeStored('local', KEY, next === 'system' ? undefined : next);
  theme.value = next;
  applyTheme();
}

export function applyTheme(): void {
  const { dataset } = document.documentElement;
  if (theme.value === 'system') delete dataset.theme;
  else dataset.theme = theme.value;
}
