/** An address of each view. Views may have tabs. */
export const VIEWS = [
  '#/services',
  '#/services?q=nothing-has-this-name',
  '#/services?filter=broken',
  '#/service/default/web',
  '#/service/default/api',
  '#/service/default/idle',
  '#/service/kube-system/dns',
  '#/ask',
  '#/ask?to=default/web&from=pod',
  '#/timeline',
  '#/rules',
  '#/rules?service=default/api&way=1',
  '#/rules?q=nothing-has-this-text',
];

/** Addresses whose question the proxy refuses. */
export const REFUSED_VIEWS = [
  '#/service/default/no-such-service',
  '#/ask?to=no-such-service',
  '#/rules?service=no-such-service',
];
