import type { PresentProduct } from '../../../projections/products/queries.ts'
import type { KnownIntegration } from '../../domain/integrations/integration.ts'
import { providerNames } from '../../domain/integrations/provider.ts'
import { money } from '../../history/changes.ts'
import { type Html, html } from '../../html.ts'
import type { Offered, OfferedItem } from '../../payments/offered.ts'
import { capitalized } from '../../sentence.ts'
import { newForm } from '../forms/filled-form.ts'
import { choiceField } from '../forms/form-fields.ts'
import { empty, heading, notice, tokenField } from '../frame/parts.ts'
import { keyTypeChoices } from '../sales/map-sale-view.ts'
import { type Item, itemsOf } from './mapped-items.ts'
import { itemWords } from './steps.ts'

type Shown = {
  integration: KnownIntegration
  /** Those that a mapping can be made for. */
  products: readonly PresentProduct[]
  /** All that are sold at the provider. */
  sold: readonly PresentProduct[]
  /** The list, or why there is none. */
  offered: Offered | string
}

/** A form that maps one of the items that the vendor sells at a provider. */
export function offeredView(token: string, shown: Shown): Html {
  const { provider } = shown.integration
  const name = providerNames[provider]
  const { one, many } = itemWords[provider]
  return html`<div class="narrow">
    ${heading(`Map a ${one}`, `Choose one of the ${many} that you sell at ${name}.`)}
    ${typeof shown.offered === 'string' ? problemPart(shown, shown.offered) : mapForm(token, shown, shown.offered)}
  </div>`
}

const backLink = ({ integration: { provider } }: Shown, label: string): Html =>
  html`<a class="button second" href=${`/dashboard/integrations/${provider}`}>${label}</a>`

const problemPart = (shown: Shown, problem: string): Html =>
  html`${notice('wrong', problem)}
    <p>${backLink(shown, 'Map by ID')}</p>`

function mapForm(token: string, shown: Shown, { items, hasMore }: Offered): Html {
  const { integration, products, sold } = shown
  const { one, many } = itemWords[integration.provider]
  const name = providerNames[integration.provider]
  const keyTypes = keyTypeChoices(products).map(({ value, label }) => [value, label] as const)
  if (items.length === 0) {
    return empty(`No ${many}`, `${name} lists no ${one} that is for sale.`, backLink(shown, 'Back'))
  }
  if (keyTypes.length === 0) {
    const toProducts = html`<a href="/dashboard/products">View products</a>`
    return empty('No product yet', 'Create the product that is sold, then return here.', toProducts)
  }
  const form = newForm()
  return html`<form class="sheet stack" method="post" action=${`/dashboard/integrations/${integration.provider}/map`}>
    ${tokenField(token)}
    ${choiceField(form, {
      name: 'item',
      label: capitalized(one),
      choices: [['', `Choose a ${one}`], ...itemChoices(items, itemsOf(sold, integration))],
      ...(hasMore && { hint: `${name} has more ${many} than these. Map the others by ID.` }),
    })}
    ${choiceField(form, {
      name: 'sold',
      label: 'Is sold as',
      choices: [['', 'Choose a key type'], ...keyTypes],
    })}
    <div class="decide">
      <button>Map</button>
      ${backLink(shown, 'Cancel')}
    </div>
  </form>`
}

/** Those that are not mapped yet come first. */
function itemChoices(items: readonly OfferedItem[], mapped: readonly Item[]): (readonly [string, string])[] {
  const choices = items.map((offered) => {
    const present = mapped.find(({ item }) => item === offered.item)
    const sold = present && `sold as ${present.product}, ${present.keyType}`
    const label = [offered.name || offered.item, priceWords(offered), sold ?? offered.item]
    return {
      isMapped: present !== undefined,
      choice: [offered.item, label.filter(Boolean).join(' · ')] as const,
    }
  })
  return choices.sort((a, b) => Number(a.isMapped) - Number(b.isMapped)).map(({ choice }) => choice)
}

function priceWords({ unitAmount, currency, interval }: OfferedItem): string | undefined {
  if (unitAmount === null || currency === null) return undefined
  return `${money(unitAmount, currency)}${interval === null ? '' : ` per ${interval}`}`
}
