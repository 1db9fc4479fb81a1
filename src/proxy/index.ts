export {
  createMode,
  type IptablesConfig,
  type ModeConfig,
  PROXY_MODES,
  type ProxyMode,
  type UserspaceConfig,
} from './create-mode.ts';
export {
  createProxy,
  type LiveConfig,
  MASQUERADE_BIT,
  type ProxyConfig,
  type ProxyListeners,
  type RunningProxy,
  syncIntervals,
} from './proxy.ts';
