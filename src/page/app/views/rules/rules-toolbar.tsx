import { useState } from 'preact/hooks';
import type { RulesAnswer } from '../../../../inspect/index.ts';
import { address, go, serviceAddress, setParameters } from '../../address.ts';
import { serviceIndex, services, servicesVersion } from '../../state/services.ts';
import { serviceChoices } from './service-choices.ts';

/** Which Service, which family, and which lines. */
export function RulesToolbar({ answer }: { readonly answer: RulesAnswer | undefined }) {
  const { service = '', q = '', way } = address.value.parameters;
  return (
    <div class="toolbar">
      <ServiceChooser key={service} service={service} />
      {service !== '' && (
        <>
          <button type="button" onClick={() => choose('')}>
            No Service
          </button>
          <a class="button" href={serviceAddress(service)}>
            Open Service
          </a>
          <button
            type="button"
            aria-pressed={way === '1'}
            onClick={() => setParameters({ way: way === '1' ? '' : '1' })}
          >
            Only its way
          </button>
        </>
      )}
      <FamilyChooser answer={answer} />
      <input
        type="search"
        aria-label="Filter blocks and lines"
        placeholder="Filter"
        value={q}
        onInput={event => setParameters({ q: event.currentTarget.value })}
      />
    </div>
  );
}

/** A change of the Service is a step that the Back button undoes. */
function choose(service: string): void {
  const { parameters } = address.value;
  go({ view: 'rules', parameters: { ...parameters, service, block: '' } });
}

function ServiceChooser({ service }: { readonly service: string }) {
  const [text, setText] = useState(service);
  // A change of the list changes the choices.
  const choices = servicesVersion.value >= 0 ? serviceChoices(serviceIndex.sorted, text) : [];
  const take = (value: string) => {
    setText(value);
    if (value !== service && services.has(value)) choose(value);
  };
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    if (text.trim() !== service) choose(text.trim());
  };
  return (
    <form class="toolbar" onSubmit={submit}>
      <input
        class="rules-service"
        list="rules-services"
        aria-label="Show the lines of a Service"
        placeholder="Service: namespace/name"
        autocomplete="off"
        value={text}
        onInput={event => take(event.currentTarget.value)}
      />
      <datalist id="rules-services">
        {choices.map(key => (
          <option key={key} value={key} />
        ))}
      </datalist>
      <button type="submit">Show</button>
    </form>
  );
}

function FamilyChooser({ answer }: { readonly answer: RulesAnswer | undefined }) {
  if (!answer || answer.families.length < 2) return null;
  const chosen = answer.families.find(family => family === address.value.parameters.family);
  return (
    <select
      aria-label="IP family"
      value={chosen ?? answer.family}
      onChange={event => setParameters({ family: event.currentTarget.value, block: '' })}
    >
      {answer.families.map(family => (
        <option key={family} value={family}>
          {family}
        </option>
      ))}
    </select>
  );
}
