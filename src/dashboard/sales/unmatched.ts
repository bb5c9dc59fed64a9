import type { UnmatchedFact } from '../../../projections/sales/unmatched.ts'
import { providerNames } from '../../domain/integrations/provider.ts'
import { money } from '../../history/money.ts'
import { type Content, html } from '../../html.ts'
import { ago } from '../frame/moments.ts'
import type { View } from '../frame/page.ts'
import { section, table } from '../frame/parts.ts'

/** Refunds and disputes that belong to no known sale; nothing when there are none. */
export function unmatchedPart(view: View, facts: readonly UnmatchedFact[]): Content {
  if (facts.length === 0) return null
  return html`<div id="unmatched">
    ${section(
      'Refunds and disputes without a sale',
      html`<div class="sheeted">
        ${table({
          caption: 'Refunds and disputes without a sale',
          columns: [
            { label: 'What happened' },
            { label: 'Amount', number: true },
            { label: 'Received', wide: true },
          ],
          rows: facts.map(({ provider, link, fact, receivedAt }): Content[] => [
            html`<span
              >${providerNames[provider]}, ${words[fact.type]}<span class="sub"><code>${link}</code></span></span
            >`,
            amountOf(fact),
            ago(receivedAt, view.now),
          ]),
        })}
      </div>`,
      'The purchase that the provider named was never reported. Revoke its license if there is one.',
    )}
  </div>`
}

const words: Record<UnmatchedFact['fact']['type'], string> = {
  SaleRefunded: 'refund',
  SaleDisputed: 'dispute opened',
  DisputeLost: 'dispute lost',
  DisputeWon: 'dispute won',
}

function amountOf({ data: { amount, currency } }: UnmatchedFact['fact']): string {
  return amount === null || currency === null ? 'not reported' : money(amount, currency)
}
