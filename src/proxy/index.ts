export {
  createProxy,
  type LiveConfig,
  MASQUERADE_BIT,
  type ProxyConfig,
  type ProxyListeners,
  type RunningProxy,
  syncIntervals,
} from './proxy.ts';
