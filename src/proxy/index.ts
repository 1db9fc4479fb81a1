export { createProxy, MASQUERADE_BIT, type ProxyConfig, type ProxyListeners, type RunningProxy } from './proxy.ts';
