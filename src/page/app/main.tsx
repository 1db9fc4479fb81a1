import './style/tokens.css';
import './style/base.css';
import './style/controls.css';
import './style/layout.css';
import { render } from 'preact';
import { App } from './app.tsx';
import { listenForKeys } from './frame-keys.ts';
import { browser } from './state/browser.ts';
import { startClock } from './state/clock.ts';
import { LiveClient } from './state/live-client.ts';
import { applyTheme } from './state/theme.ts';

applyTheme();
startClock();
listenForKeys();
void new LiveClient(browser).run();
const root = document.getElementById('app');
if (root) render(<App />, root);
