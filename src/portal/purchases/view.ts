import { dayIn } from '../../domain/portal/texts.ts'
import type { Payment } from '../../domain/sales/payments.ts'
import type { KnownSale } from '../../domain/sales/sale.ts'
import { paymentsIn, returnedOf } from '../../domain/sales/totals.ts'
import { type Html, html } from '../../html.ts'
import { facts } from '../licenses/view.ts'
import { amountIn } from '../page.ts'
import type { Visit } from '../visit.ts'

/** `hasInvoices`: whether its provider can be asked for them. */
export type ShownPurchase = { sale: KnownSale; hasInvoices: boolean }

/** Purchases with their payments. @param next the last purchase of this page, if there are more */
export function purchasesView(
  visit: Visit,
  { path, back }: { path: string; back: { href: string; words: string } },
  purchases: readonly ShownPurchase[],
  next: string | null,
): Html {
  const { say } = visit
  return html`<section>
    <p><a href=${back.href}>${back.words}</a></p>
    <h1>${say('purchasesTitle')}</h1>
    ${
      purchases.length === 0
        ? html`<p>${say('purchasesNone')}</p>`
        : html`<ul class="stack">${purchases.map((one) => purchase(visit, path, one))}</ul>`
    }
    ${next !== null && html`<p><a class="button second" href=${`${path}?after=${next}`}>${say('morePurchases')}</a></p>`}
  </section>`
}

function purchase(visit: Visit, path: string, { sale, hasInvoices }: ShownPurchase): Html {
  const { say, language } = visit
  const number = sale.orderNumber ?? sale.saleId
  return html`<li class="sheet">
    <div class="title"><h2>${sale.productName}</h2></div>
    ${facts([
      [say('orderLabel'), html`<code>${number}</code>`],
      [say('orderDateLabel'), dayIn(language, sale.soldAt)],
    ])}
    ${sale.test && html`<p class="soft">${say('orderTest')}</p>`}
    <ul>
      ${paymentsIn(sale).map((payment) => paymentRow(visit, payment, hasInvoices ? `${path}/${sale.id}/invoice` : null))}
    </ul>
  </li>`
}

function paymentRow({ say, language }: Visit, payment: Payment, invoices: string | null): Html {
  const { id, isFirst, amount, currency, paidAt } = payment
  const [paid, date] = [amountIn(language, amount, currency), dayIn(language, paidAt)]
  const returned = returnedOf(payment)
  const query = isFirst ? '' : `?${new URLSearchParams({ payment: id })}`
  return html`<li class="device">
    <div>
      <p class="name">${say('purchasePaid', { amount: paid, date })}</p>
      ${returned > 0 && html`<p class="soft">${say('purchaseReturned', { amount: amountIn(language, returned, currency) })}</p>`}
    </div>
    ${
      invoices !== null &&
      html`<div class="actions">
        <a class="button second" href=${`${invoices}${query}`} aria-label=${`${say('purchaseInvoice')}: ${paid}, ${date}`}
          >${say('purchaseInvoice')}</a
        >
      </div>`
    }
  </li>`
}
