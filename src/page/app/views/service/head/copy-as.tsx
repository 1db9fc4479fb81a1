import { useRef, useState } from 'preact/hooks';
import { CopyButton } from '../../../parts/copy-button.tsx';
import { useCloseOutside } from '../../../parts/use-close-outside.ts';
import { useKernel } from '../kernel/kernel-tab.tsx';
import { type CopiedQuestion, type CopyCommand, copyCommands } from './copy-commands.ts';
import { kernelCommands } from './kernel-commands.ts';

/** Commands that ask the same in a terminal. Esc and a click elsewhere close it. */
export function CopyAs({ question }: { readonly question: CopiedQuestion }) {
  const [isOpen, setIsOpen] = useState(false);
  const menu = useRef<HTMLDetailsElement>(null);
  useCloseOutside(menu, isOpen, () => setIsOpen(false));
  return (
    <details
      class="copy-as"
      ref={menu}
      open={isOpen}
      onToggle={event => setIsOpen(event.currentTarget.open)}
      onKeyDown={event => {
        if (event.key !== 'Escape') return;
        setIsOpen(false);
        event.currentTarget.querySelector('summary')?.focus();
      }}
    >
      <summary>Copy as</summary>
      {isOpen && (
        <ul>
          {copyCommands(question).map(command => (
            <Command key={command.name} command={command} />
          ))}
          <KernelCommand service={`${question.namespace}/${question.name}`} />
        </ul>
      )}
    </details>
  );
}

function Command({ command: { name, about, text } }: { readonly command: CopyCommand }) {
  return (
    <li>
      <p>
        <strong>{name}</strong> <span class="quiet">{about}</span>
        <CopyButton text={text} label={`Copy ${name}`} />
      </p>
      <pre>{text}</pre>
    </li>
  );
}

/** The names of what the kernel has follow from a reading. */
function KernelCommand({ service }: { readonly service: string }) {
  const { answer } = useKernel(service).state.value;
  const command = answer && kernelCommands(answer, service);
  return command ? <Command command={command} /> : null;
}
