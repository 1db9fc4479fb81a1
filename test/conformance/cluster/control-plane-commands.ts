import { CONTROL_PLANE, POD_RANGES, SERVICE_RANGES } from './addresses.ts';

const ETCD = 'http://127.0.0.1:2379';

/** The command lines of the control plane. All files lie in the folder in which the programs start. */
export const CONTROL_PLANE_COMMANDS = {
  etcd: [
    'etcd',
    ...['--data-dir=etcd', '--log-level=error'],
    // The data need not survive a power failure.
    '--unsafe-no-fsync',
    ...[`--listen-client-urls=${ETCD}`, `--advertise-client-urls=${ETCD}`, '--listen-peer-urls=http://127.0.0.1:2380'],
  ],
  'kube-apiserver': [
    'kube-apiserver',
    ...[`--etcd-servers=${ETCD}`, '--allow-privileged', `--service-cluster-ip-range=${SERVICE_RANGES}`],
    ...['--authorization-mode=Node,RBAC', '--token-auth-file=tokens.csv', '--client-ca-file=ca.crt'],
    ...['--tls-cert-file=tls.crt', '--tls-private-key-file=tls.key'],
    ...['--bind-address=0.0.0.0', `--advertise-address=${CONTROL_PLANE.v4}`],
    '--service-account-issuer=https://kubernetes.default.svc',
    ...['--service-account-key-file=service-accounts.key', '--service-account-signing-key-file=service-accounts.key'],
    '--kubelet-preferred-address-types=InternalIP',
    // No proxy runs beside the API server, so it finds the endpoints of Services itself.
    '--enable-aggregator-routing',
    '--runtime-config=api/all=false,api/ga=true',
  ],
  'kube-controller-manager': [
    'kube-controller-manager',
    ...['--kubeconfig=controller-manager.conf', '--use-service-account-credentials', '--leader-elect=false'],
    ...['--service-account-private-key-file=service-accounts.key', '--root-ca-file=ca.crt'],
    ...['--allocate-node-cidrs', `--cluster-cidr=${POD_RANGES}`, `--service-cluster-ip-range=${SERVICE_RANGES}`],
    ...['--cluster-signing-cert-file=ca.crt', '--cluster-signing-key-file=ca.key'],
  ],
  'kube-scheduler': ['kube-scheduler', '--kubeconfig=scheduler.conf', '--leader-elect=false'],
} as const;
