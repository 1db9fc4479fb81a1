/**
 * The users of the API server and their permissions:
 *  admin   may do everything
 *  proxy   may do what a kube-proxy needs, because every cluster binds the role system:node-proxier to this name
 *  nobody  is known to the server and may do nothing
 */
export type User = keyof typeof USERS;

const USERS = {
  admin: { token: 'admin-token', name: 'admin', groups: 'system:masters' },
  proxy: { token: 'proxy-token', name: 'system:kube-proxy', groups: '' },
  nobody: { token: 'nobody-token', name: 'nobody', groups: '' },
} as const;

export function tokenOf(user: User): string {
  return USERS[user].token;
}

/** The content of the file for --token-auth-file. */
export function tokenFile(): string {
  return Object.values(USERS)
    .map(({ token, name, groups }) => `${token},${name},${name},"${groups}"\n`)
    .join('');
}

/** A kubeconfig as JSON, which is also YAML. */
export function kubeconfigText(user: User, server: string, ca: string): string {
  const cluster = { server, 'certificate-authority-data': Buffer.from(ca).toString('base64') };
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'test', cluster }],
    users: [{ name: user, user: { token: tokenOf(user) } }],
    contexts: [{ name: 'test', context: { cluster: 'test', user } }],
    'current-context': 'test',
  });
}
