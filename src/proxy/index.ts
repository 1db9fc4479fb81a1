export {
  createProxy,
  MASQUERADE_BIT,
  type ModeName,
  type ProxyConfig,
  type ProxyListeners,
  type RunningProxy,
} from './proxy.ts';
