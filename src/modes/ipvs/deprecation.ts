/** What is logged as an error, and told as an event of the Node, when the mode starts. */
export const IPVS_DEPRECATION = {
  type: 'Warning',
  reason: 'IPVSDeprecation',
  action: 'StartKubeProxy',
  note: "The ipvs proxier is now deprecated and may be removed in a future release. Please use 'nftables' instead.",
} as const;
