/** An address of each view, and of each tab. */
export const VIEWS = [
  '#/services',
  '#/services?q=nothing-has-this-name',
  '#/services?filter=broken',
  '#/service/default/web',
  '#/service/default/api',
  '#/service/kube-system/dns',
  '#/service/default/no-such-service',
  '#/ask',
  '#/ask?to=default/web&from=pod',
  '#/timeline',
  '#/rules',
] as const;
