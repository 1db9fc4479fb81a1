import type { FrontendDetail, PortDetail } from '../../../../../inspect/index.ts';
import { FRONTEND_WORDS, hostPort } from '../../../parts/texts.ts';
import { type Rect, rectStyle } from './geometry.ts';

interface FrontendCardProps {
  readonly id: string;
  readonly detail: FrontendDetail;
  readonly port: PortDetail;
  readonly rect: Rect | undefined;
  readonly isPressed: boolean;
  readonly isOff: boolean;
  readonly onToggle: () => void;
}

/** An address of the Service: its kind and policy, the address, and what limits it. */
export function FrontendCard({ id, detail, port, rect, isPressed, isOff, onToggle }: FrontendCardProps) {
  const { kind, policy, address } = detail;
  return (
    <button
      type="button"
      class={`card frontend${isOff ? ' off' : ''}`}
      data-frontend={id}
      aria-pressed={isPressed}
      style={rectStyle(rect)}
      onClick={onToggle}
    >
      <span class="card-head">
        <span class="quiet">{FRONTEND_WORDS[kind]}</span>
        <span class="quiet">
          policy <span class={`policy${policy === 'Local' ? ' local' : ''}`}>{policy}</span>
        </span>
      </span>
      <strong class="mono" title={address === undefined ? undefined : hostPort(address, detail.port)}>
        {address === undefined ? `*:${detail.port}` : hostPort(address, detail.port)}
        <span class="quiet">/{port.protocol}</span>
      </strong>
      <span class="quiet note-line" title={frontendNotes(detail, port)}>
        {frontendNotes(detail, port)}
      </span>
    </button>
  );
}

/** `for 192.168.0.0/24 · affinity 600 s` */
export function frontendNotes(
  { sourceRanges, acceptedAt }: FrontendDetail,
  { affinitySeconds }: Pick<PortDetail, 'affinitySeconds'>,
): string {
  return [
    sourceRanges && `only from ${sourceRanges.length > 2 ? `${sourceRanges.length} ranges` : sourceRanges.join(', ')}`,
    acceptedAt &&
      (acceptedAt === 'all' ? 'at all addresses of the node' : `at ${acceptedAt.join(', ') || 'no address'}`),
    affinitySeconds !== undefined && `affinity ${affinitySeconds} s`,
  ]
    .filter(text => text)
    .join(' · ');
}
