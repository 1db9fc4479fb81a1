// Runs Node in a guest: Debian's User Mode Linux on this machine's own files. The guest's kernel has ip_vs, dummy, sctp
// and netem. Its nf_tables has no ip family, so iptables means iptables-legacy there.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from './setup.mjs';

const MODULES = `ip_vs ip_vs_rr ip_vs_wrr ip_vs_sh ip_vs_lc ip_vs_mh nf_conntrack nf_conntrack_netlink ip_set dummy sctp veth
  bridge br_netfilter xt_set xt_comment xt_MASQUERADE xt_mark xt_addrtype xt_conntrack xt_statistic xt_recent xt_tcpudp xt_nat
  xt_REDIRECT ipt_REJECT ip6t_REJECT nfnetlink_acct xt_nfacct ip_tables iptable_nat iptable_filter iptable_mangle ip6_tables
  ip6table_nat ip6table_filter ip6table_mangle`;

/**
 * The script that the guest's kernel starts as its first process.
 * @param {string} folder where the script writes the program's output and exit status
 * @param {readonly string[]} args of Node
 * @param {Readonly<Record<string, string>>} environment
 */
const initScript = (folder, args, environment) => `#!/bin/bash
export PATH=/run/legacy:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t tmpfs tmpfs /run; mount -t tmpfs tmpfs /lib/modules; mkdir -p /run/netns
mkdir -p "/lib/modules/$(uname -r)"; mount --bind "/usr/lib/uml/modules/$(uname -r)" "/lib/modules/$(uname -r)"
mkdir -p /run/legacy
for v in iptables ip6tables; do for f in '' -save -restore; do ln -s "/usr/sbin/$v-legacy$f" "/run/legacy/$v$f"; done; done
for m in ${MODULES.replaceAll(/\s+/g, ' ')}; do modprobe -q $m; done
ip link set lo up
${Object.entries(environment)
  .map(([name, value]) => `export ${name}=${quote(value)}\n`)
  .join('')}cd ${quote(root)}
${[process.execPath, ...args].map(quote).join(' ')} > ${quote(`${folder}/out`)} 2>&1; echo $? > ${quote(`${folder}/status`)}
sync; halt -f -p 2>/dev/null || poweroff -f
`;

/**
 * Boots a guest and runs `node args…` in it as root. Resolves with the exit status and the output.
 * @param {readonly string[]} args
 * @param {{ environment?: Readonly<Record<string, string>>, memory?: string, timeoutMs?: number }} options
 */
export async function runInGuest(args, { environment = {}, memory = '2G', timeoutMs = 1_200_000 } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'guest-'));
  try {
    writeFileSync(`${folder}/init`, initScript(folder, args, environment));
    chmodSync(`${folder}/init`, 0o755);
    mkdirSync('/lib/modules', { recursive: true });
    const machineArgs = ['rootfstype=hostfs', 'rootflags=/', 'rw', `mem=${memory}`, `init=${folder}/init`];
    const consoleArgs = ['con=null', 'con0=null,null'];
    const guest = spawn('linux.uml', [...machineArgs, ...consoleArgs], {
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: timeoutMs,
    });
    let kernelOutput = '';
    for (const stream of [guest.stdout, guest.stderr]) {
      stream.setEncoding('utf8').on('data', text => {
        kernelOutput = (kernelOutput + text).slice(-2000);
      });
    }
    const [, signal] = await once(guest, 'close');
    const output = existsSync(`${folder}/out`) ? readFileSync(`${folder}/out`, 'utf8') : '';
    if (existsSync(`${folder}/status`)) {
      return { status: Number(readFileSync(`${folder}/status`, 'utf8')), output };
    }
    return { status: 1, output: `${output}\nThe guest did not finish: ${signal ?? ''}\n${kernelOutput}\n` };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Quotes a word for the shell.
 * @param {string} word
 */
function quote(word) {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
