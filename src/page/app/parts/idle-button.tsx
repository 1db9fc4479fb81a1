import type { ComponentChildren } from 'preact';

interface IdleButtonProps {
  /** It does nothing now. */
  readonly isIdle: boolean;
  readonly onPress: () => void;
  readonly children: ComponentChildren;
}

/** A button that sometimes does nothing. It keeps the focus then, which a browser takes away from a disabled one. */
export function IdleButton({ isIdle, onPress, children }: IdleButtonProps) {
  return (
    <button type="button" aria-disabled={isIdle} onClick={() => !isIdle && onPress()}>
      {children}
    </button>
  );
}
