import type { PresentProduct } from '../../../projections/products/queries.ts'
import type { ProductPacks } from '../../domain/integrations/credit-packs.ts'
import type { KeyType } from '../../domain/products/key-type.ts'
import { money } from '../../history/changes.ts'
import { type Content, type Html, html } from '../../html.ts'
import type { FilledForm } from '../forms/filled-form.ts'
import { formProblem, textField } from '../forms/form-fields.ts'
import { dayOf } from '../frame/moments.ts'
import { copyable, heading, section, table, tokenField } from '../frame/parts.ts'
import { packTable } from '../integrations/credit-packs-view.ts'

export const priceField = (keyTypeId: string): string => `price-${keyTypeId}`

type Selling = {
  token: string
  product: PresentProduct
  form: FilledForm
  /** The key types that can be bought now. */
  sold: ReadonlySet<string>
  /** The packs of the product that Stripe sells. */
  packs: readonly ProductPacks[]
  pricingUrl: string
}

/** The prices of a product's key types at the card provider, and where they are shown and bought. */
export function sellingView({ token, product, form, sold, packs, pricingUrl }: Selling): Html {
  const { productId, keyTypes } = product
  const path = `/dashboard/products/${productId}/selling`
  return html`<div>
    ${heading('Selling', `What ${product.name} costs, and where it is bought.`)}
    ${formProblem(form)}
    <form class="sheet stack narrow" method="post" action=${path}>
      ${tokenField(token)}
      ${keyTypes.map(({ keyTypeId, name }) =>
        textField(form, {
          name: priceField(keyTypeId),
          label: `Stripe price of ${name}`,
          hint: html`<code>price_…</code>. Leave empty if it is not sold with Stripe.`,
          required: false,
          maxlength: 255,
          className: 'mono',
        }),
      )}
      <p class="hint">Saving reads every price from Stripe, and changes nothing if one of them is missing there.</p>
      <div class="decide">
        <button>Save prices</button>
        <a class="button second" href=${`/dashboard/products/${productId}`}>Back to the product</a>
      </div>
    </form>
    ${section(
      'Prices',
      html`<div class="stack">
        <div class="sheeted">
          ${table({
            caption: 'Prices',
            columns: [
              { label: 'Key type' },
              { label: 'Price' },
              { label: 'Verified', wide: true },
              { label: 'Can be bought' },
            ],
            rows: keyTypes.map(({ keyTypeId, name, price }) => [
              name,
              priceWords(price),
              price?.verified && price.verifiedAt !== null ? dayOf(price.verifiedAt) : 'no',
              sold.has(keyTypeId) ? 'yes' : 'no',
            ]),
          })}
        </div>
        <form method="post" action=${`${path}/verify`}>
          ${tokenField(token)}
          <button class="second">Verify prices again</button>
        </form>
      </div>`,
      'As Stripe returned them when they were last verified.',
    )}
    ${creditPacks(product, packs)}
    ${section(
      'On your website',
      html`<div class="sheet stack">
        <p>The public prices, for your own pricing page, with a link to buy each:</p>
        <p>${copyable('address of the prices', pricingUrl)}</p>
        <p>
          To open a checkout from your own page, use the${' '}
          <a href="/dashboard/settings/checkout-key">checkout key</a>. Providers are connected under${' '}
          <a href="/dashboard/integrations">Integrations</a>.
        </p>
      </div>`,
    )}
  </div>`
}

/** What of the product's meters is sold; nothing where it has none. */
function creditPacks({ keyTypes }: PresentProduct, packs: readonly ProductPacks[]): Content {
  const isMetered = keyTypes.some(({ meters = [] }) => meters.length > 0)
  if (!isMetered && packs.length === 0) return null
  return section(
    'Credit packs',
    html`<div class="stack">
      ${packs.length > 0 && packTable(packs)}
      <p class="hint">
        ${packs.length === 0 && 'None yet. '}A pack is a price of Stripe that is mapped under${' '}
        <a href="/dashboard/integrations/stripe">Integrations</a>. Its ID is what a checkout names.
      </p>
    </div>`,
    'Prepaid amounts of a meter, for a license that the buyer has.',
  )
}

function priceWords(price: KeyType['price']): string {
  if (price === null) return 'none'
  const { unitAmount, currency, interval, priceId } = price
  if (unitAmount === null || currency === null) return priceId
  return `${money(unitAmount, currency)}${interval === null ? '' : ` per ${interval}`}`
}
