import { setTimeout as delay } from 'node:timers/promises';
import type { NetworkNamespace } from '../../src/kernel/netns.ts';
import { connectTcp } from '../../src/kernel/sockets/index.ts';
import type { Ip } from '../../src/net/index.ts';

/** A few at a time: a burst would only wait for the other processes of the machine. */
const AT_ONCE = 20;

/** Connects once. The server must send one text, and close when the client does. */
export async function pick(client: NetworkNamespace, ip: Ip, port: number): Promise<string> {
  const connection = await connectTcp(client, ip, port);
  connection.end();
  let answer = '';
  for await (const bytes of connection) answer += String(bytes);
  return answer;
}

/** Connects one after the other, and returns the answers in order. */
export async function picksInTurn(client: NetworkNamespace, ip: Ip, port: number, times: number): Promise<string[]> {
  const answers: string[] = [];
  while (answers.length < times) answers.push(await pick(client, ip, port));
  return answers;
}

/** How often each answer came. */
export async function countPicks(
  client: NetworkNamespace,
  ip: Ip,
  port: number,
  times: number,
): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  for (let left = times; left > 0; left -= AT_ONCE) {
    const answers = Array.from({ length: Math.min(left, AT_ONCE) }, () => pick(client, ip, port));
    for (const answer of await Promise.all(answers)) counts.set(answer, (counts.get(answer) ?? 0) + 1);
    await delay(0);
  }
  return counts;
}
