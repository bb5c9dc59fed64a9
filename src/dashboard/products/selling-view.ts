import type { PresentProduct } from '../../../projections/products/queries.ts'
import type { KeyType } from '../../domain/products/key-type.ts'
import { money } from '../../history/changes.ts'
import { type Html, html } from '../../html.ts'
import type { FilledForm } from '../forms/filled-form.ts'
import { formProblem, textField } from '../forms/form-fields.ts'
import { dayOf } from '../frame/moments.ts'
import { copyable, heading, section, table, tokenField } from '../frame/parts.ts'

export const priceField = (keyTypeId: string): string => `price-${keyTypeId}`

type Selling = {
  token: string
  product: PresentProduct
  form: FilledForm
  /** The key types that can be bought now. */
  sold: ReadonlySet<string>
  pricingUrl: string
}

/** The prices of a product's key types at the card provider, and where they are shown and bought. */
export function sellingView({ token, product, form, sold, pricingUrl }: Selling): Html {
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

function priceWords(price: KeyType['price']): string {
  if (price === null) return 'none'
  const { unitAmount, currency, interval, priceId } = price
  if (unitAmount === null || currency === null) return priceId
  return `${money(unitAmount, currency)}${interval === null ? '' : ` per ${interval}`}`
}
