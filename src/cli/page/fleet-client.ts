import type { ApiClient } from '../../client/index.ts';
import type { FleetClient } from '../../page/index.ts';

/** The client of the fleet, with the credentials of a kubeconfig. */
export function fleetClient(client: ApiClient): FleetClient {
  return {
    async get({ maxBytes, ...request }) {
      const { status, body } = await client.request(request);
      const chunks: Uint8Array[] = [];
      let size = 0;
      // Leaving the loop ends the transfer.
      for await (const chunk of body) {
        size += chunk.length;
        if (size > maxBytes) throw new Error(`the answer is longer than ${maxBytes >> 20} MiB`);
        chunks.push(chunk);
      }
      return { status, text: Buffer.concat(chunks).toString('utf8') };
    },
  };
}
