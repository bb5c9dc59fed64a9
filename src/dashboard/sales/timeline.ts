import type { KnownDelivery } from '../../domain/deliveries/delivery.ts'
import type { SaleEvent } from '../../domain/sales/events.ts'
import { money } from '../../history/changes.ts'
import { type Content, type Html, html } from '../../html.ts'
import { deliveryBadge, deliveryWords, mailWords } from '../deliveries/view.ts'
import { moment } from '../frame/moments.ts'
import { badge } from '../frame/parts.ts'

type Entry = { at: string; words: Content }

/** The history of a sale, its license and its deliveries, in one order. */
export function saleTimeline(events: readonly SaleEvent[], deliveries: readonly KnownDelivery[]): Html {
  const entries = [
    ...events.flatMap((event): Entry[] => {
      const words = eventWords(event)
      return words === null ? [] : [{ at: event.data.at, words }]
    }),
    ...deliveries.map((delivery): Entry => ({ at: delivery.scheduledAt, words: ofDelivery(delivery) })),
  ]
  const inOrder = entries.sort((one, other) => one.at.localeCompare(other.at))
  return html`<ol class="history sheet">
    ${inOrder.map(
      ({ at, words }) => html`<li>
        ${moment(at)}
        <div>${words}</div>
      </li>`,
    )}
  </ol>`
}

const entry = (title: string, more: Content): Html =>
  html`<span><strong>${title}</strong><span class="sub">${more}</span></span>`

/** The entry of an event; null for internal ones. */
function eventWords(event: SaleEvent): Content {
  switch (event.type) {
    case 'SaleReceived':
      return entry('Payment notification verified', html`<code>${event.data.notificationId}</code>`)
    case 'SaleMapped':
      return entry('Product matched', `${event.data.productId}, ${event.data.keyTypeId}`)
    case 'ItemMovedFirst':
      return null
    case 'ItemNotMapped':
      return entry('Item not mapped', html`<code>${event.data.detail}</code>`)
    case 'QuantityExceeded':
      return entry(
        'Quantity exceeded',
        `${event.data.quantity} paid for, at most ${event.data.sold} per purchase`,
      )
    case 'CreditMapped':
      return entry('Credit matched', `${event.data.amount} ${event.data.unit}, ${event.data.meter}`)
    case 'SaleCredited':
      return entry('Credit added', html`${event.data.amount} for <code>${event.data.licenseId}</code>`)
    case 'SaleCreditWithdrawn':
      return entry('Credit withdrawn', `${event.data.left} was left`)
    case 'SaleParked':
      return entry('Parked', `${event.data.reason}: ${event.data.detail}`)
    case 'SaleLicensed':
      return entry('License issued', html`<code>${event.data.licenseId}</code>`)
    case 'SalePaymentRecorded':
      return entry('Payment recorded', money(event.data.amount, event.data.currency))
    case 'DuplicateReceived':
      return html`<span
        ><strong>Duplicate notification</strong> ${badge('plain', 'ignored')}<span class="sub"
          ><code>${event.data.notificationId}</code></span
        ></span
      >`
    case 'PlanNotMapped':
      return event.data.plan === null
        ? entry('Plan mapped', 'The license follows the subscription again.')
        : entry('Plan not mapped', `${event.data.plan}: the license does not change until the plan is mapped`)
    case 'SaleLinked':
    case 'PlanReviewed':
    case 'SaleSettled':
      return null
    default:
      return factWords(event)
  }
}

type Fact = Exclude<
  SaleEvent,
  {
    type:
      | 'SaleReceived'
      | 'SaleMapped'
      | 'CreditMapped'
      | 'SaleCredited'
      | 'SaleCreditWithdrawn'
      | 'QuantityExceeded'
      | 'ItemMovedFirst'
      | 'ItemNotMapped'
      | 'SaleParked'
      | 'SaleLicensed'
      | 'SalePaymentRecorded'
      | 'DuplicateReceived'
      | 'SaleLinked'
      | 'PlanNotMapped'
      | 'PlanReviewed'
      | 'SaleSettled'
  }
>

function factWords(fact: Fact): Content {
  switch (fact.type) {
    case 'SaleRenewed':
      return entry('Renewed', renewalWords(fact.data))
    case 'RenewalFailed':
      return entry('Renewal payment failed', failureWords(fact.data))
    case 'PaymentNamed':
      return entry('Payment identified', fact.data.names.join(', '))
    case 'SubscriptionTold':
      return entry('Subscription updated', subscriptionWords(fact.data))
    case 'SaleRefunded': {
      const { amount, currency, full } = fact.data
      return entry(full ? 'Refunded in full' : 'Refunded in part', money(amount, currency))
    }
    case 'SaleDisputed':
      return entry('Disputed', disputed(fact.data))
    case 'DisputeWon':
      return entry('Dispute won', disputed(fact.data))
    case 'DisputeLost':
      return entry('Dispute lost', disputed(fact.data))
    case 'SaleEnded': {
      const { paidUntil } = fact.data
      return entry(
        'Subscription ended',
        paidUntil === null ? 'immediately' : html`paid until ${moment(paidUntil)}`,
      )
    }
  }
}

function renewalWords({ amount, currency, paidUntil }: DataOf<'SaleRenewed'>): Content {
  const paid = money(amount, currency)
  return paidUntil === null ? paid : html`${paid}, paid until ${moment(paidUntil)}`
}

function failureWords({ paymentId, attempt, nextAttemptAt }: DataOf<'RenewalFailed'>): Content {
  const failed = attempt === null ? paymentId : `${paymentId}, attempt ${attempt}`
  return nextAttemptAt === null ? failed : html`${failed}, next attempt ${moment(nextAttemptAt)}`
}

function subscriptionWords({ sold, quantity, paused, paidUntil }: DataOf<'SubscriptionTold'>): Content {
  const plan = sold === null ? null : 'productId' in sold ? sold.productId : sold.providerProduct
  const parts = [
    plan,
    quantity === null ? null : `quantity ${quantity}`,
    paused === null ? null : paused ? 'paused' : 'active',
  ]
  const words = parts.filter((part) => part !== null).join(', ')
  return paidUntil === null ? words : html`${words}, paid until ${moment(paidUntil)}`
}

type DataOf<Type extends SaleEvent['type']> = Extract<SaleEvent, { type: Type }>['data']

type Dispute = { disputeId: string; amount: number | null; currency: string | null }

const disputed = ({ disputeId, amount, currency }: Dispute): Content =>
  amount === null || currency === null ? disputeId : `${disputeId}, ${money(amount, currency)}`

function ofDelivery(delivery: KnownDelivery): Html {
  const what = delivery.channel === 'mail' ? mailWords(delivery) : `Webhook ${delivery.event}`
  return html`<span
    ><strong>${what}</strong> ${deliveryBadge(delivery)}<span class="sub"
      ><a href=${`/dashboard/deliveries/${delivery.deliveryId}`}>${deliveryWords(delivery)}</a></span
    ></span
  >`
}
