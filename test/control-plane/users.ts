/**
 * Who may ask the API server, by group or by a role that every cluster has:
 *  admin   everything
 *  proxy   what a kube-proxy needs: the role system:node-proxier is bound to this name
 *  nobody  known to the server, and allowed nothing
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

/** For --token-auth-file. */
export function tokenFile(): string {
  return Object.values(USERS)
    .map(({ token, name, groups }) => `${token},${name},${name},"${groups}"\n`)
    .join('');
}

/** JSON, which is YAML too. */
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
