import { DNS_IP } from './addresses.ts';

/** The programs of a node ask for these values of the machine's own kernel. The node shows files that have them. */
export const SHOWN_SYSCTLS: Readonly<Record<string, string>> = {
  'vm/overcommit_memory': '1',
  'kernel/panic': '10',
  'kernel/panic_on_oops': '1',
  'kernel/keys/root_maxkeys': '1000000',
  'kernel/keys/root_maxbytes': '25000000',
};

/** What the first process of a node does: it arranges the node's files, says that it is ready, and waits. */
export function initScript(name: string, folder: string): string {
  const sysctls = Object.keys(SHOWN_SYSCTLS).map(
    path =>
      `[ ! -e /proc/sys/${path} ] || mount --bind ${folder}/sysctl/${path.replaceAll('/', '-')} /proc/sys/${path}`,
  );
  return [
    'set -e',
    `hostname ${name}`,
    'mount --make-rprivate /',
    'mount -t proc proc /proc',
    ...sysctls,
    'mount -t tmpfs tmpfs /run',
    'mkdir -p /run/lock',
    // What ebpf mode pins there vanishes with the node.
    '[ ! -d /sys/fs/bpf ] || mount -t bpf bpf /sys/fs/bpf',
    `mount --bind ${folder}/lib /var/lib`,
    `mount --bind ${folder}/log /var/log`,
    'mount --make-rshared /',
    `touch ${folder}/ready`,
    'trap "exit 0" TERM',
    'while :; do sleep 3600 & wait; done',
  ].join('\n');
}

export function containerdConfiguration(cniPrograms: string, cniFolder: string): string {
  return `version = 3
root = "/var/lib/containerd"
state = "/run/containerd"
[grpc]
  address = "/run/containerd/containerd.sock"
[plugins."io.containerd.cri.v1.images"]
  snapshotter = "overlayfs"
[plugins."io.containerd.cri.v1.images".pinned_images]
  sandbox = "registry.k8s.io/pause:3.10.2"
[plugins."io.containerd.cri.v1.runtime"]
  restrict_oom_score_adj = true
  disable_apparmor = true
[plugins."io.containerd.cri.v1.runtime".cni]
  bin_dirs = ["${cniPrograms}"]
  conf_dir = "${cniFolder}"
[plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"
[plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc.options]
  SystemdCgroup = false
`;
}

/** As JSON, which is also YAML. */
export function kubeletConfiguration(controlGroup: string, resolvConf: string): string {
  return JSON.stringify({
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    failCgroupV1: false,
    failSwapOn: false,
    cgroupDriver: 'cgroupfs',
    cgroupRoot: controlGroup,
    enforceNodeAllocatable: [],
    containerRuntimeEndpoint: 'unix:///run/containerd/containerd.sock',
    authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
    authorization: { mode: 'AlwaysAllow' },
    clusterDomain: 'cluster.local',
    clusterDNS: [DNS_IP],
    resolvConf,
    // The images cannot be downloaded again.
    imageGCHighThresholdPercent: 100,
    evictionHard: { 'memory.available': '100Mi' },
    oomScoreAdj: 0,
    maxPods: 100,
  });
}

/** Pods get addresses of the ranges that the node has. */
export function cniConfiguration(ranges: readonly string[]): string {
  const ipam = {
    type: 'host-local',
    dataDir: '/run/cni-ipam-state',
    ranges: ranges.map(subnet => [{ subnet }]),
    routes: ranges.map(range => ({ dst: range.includes(':') ? '::/0' : '0.0.0.0/0' })),
  };
  return JSON.stringify({
    cniVersion: '1.0.0',
    name: 'pods',
    plugins: [
      { type: 'ptp', ipMasq: false, mtu: 1500, ipam },
      { type: 'portmap', capabilities: { portMappings: true } },
    ],
  });
}
