import type { PresentProduct } from '../../../projections/products/queries.ts'
import type { ProductPacks } from '../../domain/integrations/credit-packs.ts'
import type { KnownIntegration } from '../../domain/integrations/integration.ts'
import { type Provider, providerNames } from '../../domain/integrations/provider.ts'
import { type Content, type Html, html } from '../../html.ts'
import { counted } from '../../sentence.ts'
import type { FilledForm } from '../forms/filled-form.ts'
import { choiceField, textField } from '../forms/form-fields.ts'
import type { View } from '../frame/page.ts'
import { section, table, tokenField } from '../frame/parts.ts'
import { itemWords } from './steps.ts'

const at = (provider: Provider) => `/dashboard/integrations/${provider}`

type Shown = {
  provider: Provider
  /** Those that a pack can be sold for. */
  products: readonly PresentProduct[]
  form: FilledForm
}

/** What of a provider sells credits; nothing where there is no meter to add to. */
export function creditPacksPart(
  view: View,
  { provider, products, form }: Shown,
  known: KnownIntegration,
): Content {
  const packs = known.packs ?? []
  const choices = meterChoices(products)
  if (packs.length === 0 && choices.length === 0) return null
  const words = itemWords[provider]
  return section(
    'Credits',
    html`<div class="stack">
      ${packs.length > 0 && packTable(packs, view.may('manage_connections') ? (id) => unmapForm(view.token, provider, id) : undefined)}
      ${
        view.may('manage_connections') &&
        choices.length > 0 &&
        html`<form class="sheet stack" method="post" action=${`${at(provider)}/credit-pack`}>
          ${tokenField(view.token)}
          ${textField(form, { name: 'pack', label: `ID of a ${words.one} at ${providerNames[provider]} that sells credits`, hint: `For example ${words.example}.`, maxlength: 255 })}
          ${choiceField(form, { name: 'meter', label: 'Adds to', choices: [['', 'Choose a meter'], ...choices] })}
          ${textField(form, { name: 'amount', label: 'Amount', hint: 'For each unit that is bought, such as 500.', maxlength: 20 })}
          ${textField(form, { name: 'days', label: 'Days', required: false, hint: 'For how many days it can be spent. Empty for ever.', maxlength: 4 })}
          <div><button>Sell credits</button></div>
        </form>`
      }
    </div>`,
    `Which ${words.many} add a prepaid amount to a meter of a license that the buyer has, instead of issuing one.`,
  )
}

/** Each meter of a product once. */
const meterChoices = (products: readonly PresentProduct[]): [value: string, label: string][] =>
  products.flatMap(({ productId, name, keyTypes }) => {
    const meters = new Map(
      keyTypes.flatMap(({ meters = [] }) => meters.map(({ meter, unit }) => [meter, unit])),
    )
    return [...meters].map(([meter, unit]): [string, string] => [
      `${productId}/${meter}`,
      `${name}, ${meter}${unit === meter ? '' : ` (${unit})`}`,
    ])
  })

/** @param change what can be done with a pack */
export function packTable(packs: readonly ProductPacks[], change?: (id: string) => Html): Html {
  const rows = packs.flatMap(({ productId, packs: ofProduct }) =>
    Object.entries(ofProduct).map(([id, { meter, amount, days }]): Content[] => [
      html`<code>${id}</code>`,
      html`<span
        >${amount} ${meter}, ${days === null ? 'for ever' : `for ${counted(days, 'day', 'days')}`}<span class="sub"
          >${productId}</span
        ></span
      >`,
      ...(change ? [change(id)] : []),
    ]),
  )
  const columns = [{ label: 'ID' }, { label: 'Adds' }, ...(change ? [{ label: 'Change' }] : [])]
  return html`<div class="sheeted">${table({ caption: 'Credit packs', columns, rows })}</div>`
}

/** Ends the mapping of one of a provider's ids, to a key type or to credits. */
export const unmapForm = (token: string, provider: Provider, item: string): Html =>
  html`<form method="post" action=${`${at(provider)}/unmap`}>
    ${tokenField(token)}
    <input type="hidden" name="item" value=${item} />
    <button class="second" aria-label=${`Remove the mapping of ${item}`}>Remove</button>
  </form>`
