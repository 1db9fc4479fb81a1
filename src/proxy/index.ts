export {
  createProxy,
  type LiveConfig,
  MASQUERADE_BIT,
  type ModeName,
  type ProxyConfig,
  type ProxyListeners,
  type RunningProxy,
  syncIntervals,
} from './proxy.ts';
