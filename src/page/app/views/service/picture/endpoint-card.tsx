import type { EndpointDetail } from '../../../../../inspect/index.ts';
import { type Rect, rectStyle } from './geometry.ts';

interface EndpointCardProps {
  readonly detail: EndpointDetail;
  readonly isUsed: boolean;
  /** No chosen way leads to it. */
  readonly isOff: boolean;
  readonly rect: Rect | undefined;
}

export function EndpointCard({ detail, isUsed, isOff, rect }: EndpointCardProps) {
  const { address, local } = detail;
  return (
    <div class={`card endpoint${isUsed ? '' : ' unused'}${isOff ? ' off' : ''}`} style={rectStyle(rect)}>
      <span class="card-head">
        <span class="mono" title={address}>
          {address}
        </span>
        {local && <span class="here">this node</span>}
      </span>
      <span class="quiet note-line" title={endpointNotes(detail, isUsed)}>
        {endpointNotes(detail, isUsed)}
      </span>
    </div>
  );
}

/** Why it is not used comes first: it is what an operator looks for. */
function endpointNotes(
  { pod, node, zone, local, clusterPolicy, localPolicy }: EndpointDetail,
  isUsed: boolean,
): string {
  // The card of a local endpoint says "this node" already.
  const hasNode = local && (pod !== undefined || zone !== undefined);
  const reason = (clusterPolicy ?? localPolicy)?.reason;
  return [!isUsed && (reason ?? 'not used'), pod?.split('/').at(-1), !hasNode && node, zone]
    .filter(text => text)
    .join(' · ');
}
