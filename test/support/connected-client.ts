import type { NetworkNamespace } from '../../src/kernel/netns.ts';
import type { Ip } from '../../src/net/index.ts';
import { Program } from '../control-plane/program.ts';

/** Starts a process below a control group that is connected to an address until it is stopped. */
export async function startConnectedClient(
  namespace: NetworkNamespace,
  group: string,
  { ip, port }: { readonly ip: Ip; readonly port: number },
): Promise<Program> {
  const script = `echo $$ > ${group}/cgroup.procs && exec 3<>/dev/tcp/${ip}/${port} && echo connected >&2 && exec sleep 600`;
  const client = new Program('the client', ['bash', '-c', script], { namespace });
  await client.until('connected');
  return client;
}
