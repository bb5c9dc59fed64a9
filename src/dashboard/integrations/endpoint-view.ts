import type { ProviderWithApi } from '../../domain/integrations/provider.ts'
import { providerNames } from '../../domain/integrations/provider.ts'
import { type Html, html } from '../../html.ts'
import type { FilledForm } from '../forms/filled-form.ts'
import { checkField, textField } from '../forms/form-fields.ts'
import type { View } from '../frame/page.ts'
import { section, tokenField } from '../frame/parts.ts'
import { endpointKeyWords, fieldWords } from './steps.ts'

type Shown = { provider: ProviderWithApi; operation: string; form: FilledForm }

/** The fields of the form, with names of their own: the form for doing it by hand is on the same page. */
export const endpointFields = {
  key: 'endpointKey',
  store: 'endpointStore',
  replace: 'endpointReplace',
} as const

/** Connects a provider with a key that may create the endpoint there. */
export function endpointForm({ token }: View, { provider, operation, form }: Shown): Html {
  const name = providerNames[provider]
  const { one, allowed } = endpointKeyWords[provider]
  const { key, store, replace } = endpointFields
  return section(
    `With ${one}`,
    html`<form class="sheet stack" method="post" action=${`/dashboard/integrations/${provider}/endpoint`}>
      ${tokenField(token)}
      <input type="hidden" name="operation" value=${operation} />
      <p>${allowed}</p>
      ${textField(form, {
        name: key,
        label: `${fieldWords[provider].key} for the endpoint`,
        type: 'password',
        hint: 'Stored encrypted and never shown again.',
        maxlength: 500,
      })}
      ${
        provider === 'lemonsqueezy' &&
        textField(form, {
          name: store,
          label: 'Store ID',
          hint: 'Only if the account has several stores.',
          required: false,
          maxlength: 100,
        })
      }
      ${
        replace in form.typed &&
        checkField(form, {
          name: replace,
          label: `Replace the endpoint at ${name}`,
          hint: 'It is removed there, and a new one with all events takes its place.',
        })
      }
      <div><button>Create the endpoint at ${name}</button></div>
    </form>`,
    `keyledger creates the endpoint with the right address and events, and stores its secret.`,
  )
}
