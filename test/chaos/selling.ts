import { z } from 'zod'
import type { PaymentNotification } from '../../src/payments/notification.ts'
import { purchase } from '../sales/notifications.ts'
import { stripeEvent, stripeHeaders } from '../sales/stripe-events.ts'
import type { LoadContext } from './load-context.ts'
import { newLicense } from './model.ts'
import { account, productId } from './operator-commands.ts'
import { platformSecret } from './stage.ts'

const Minted = z.object({ license: z.object({ id: z.string() }), licenseKey: z.string() })

/**
 * Providers and applications accept a difference of five minutes between their clocks; values just below are not
 * checked.
 */
const clocksAgreeMs = 240_000

/** Mints through the API, and sends the card provider's notifications of sales and refunds. */
export function createSelling(context: LoadContext) {
  const sales: string[] = []
  const refunded: string[] = []
  let names = 0

  /** Sends the same request with the same Idempotency-Key until it is answered, and sometimes once more. */
  async function mint(tenantId: string): Promise<void> {
    const key = `mint-${++names}`
    const send = async () => {
      const called = await context.request(tenantId, {
        method: 'POST',
        path: '/v1/licenses',
        headers: { 'idempotency-key': key },
        body: JSON.stringify({ productId }),
      })
      context.note(
        `mint ${key}: ${called.came === 'answer' ? `${called.status} ${JSON.stringify(called.body).slice(0, 120)}` : called.came}`,
      )
      if (called.came !== 'answer') return undefined
      if (called.status === 201) return Minted.parse(called.body)
      // The first request is still running.
      if (called.status !== 409) {
        const found = `${called.status} ${JSON.stringify(called.body)}`
        context.fail({ what: `mint ${key}`, expected: '201 or 409', found })
      }
      return undefined
    }
    let minted: z.infer<typeof Minted> | undefined
    await context.untilDone(`mint ${key}`, async () => {
      minted = await send()
      return minted !== undefined
    })
    if (!minted) return
    context.note(`mint ${key}: ${minted.license.id}`)
    context.licenses.push(newLicense(minted.license.id, minted.licenseKey, tenantId))
    context.acknowledged()
    const again = context.random.chance(0.1) ? await send() : undefined
    if (again && again.licenseKey !== minted.licenseKey) {
      const found = `${minted.license.id} and ${again.license.id}`
      context.fail({ what: `mint ${key}`, expected: 'the same license for the same key', found })
    }
  }

  /** Sends the notification until it is accepted. */
  async function notify(notification: PaymentNotification): Promise<void> {
    const body = stripeEvent(notification, account)
    await context.untilDone(notification.notificationId, async () => {
      const app = context.random.pick([1, 2] as const)
      const headers = stripeHeaders(body, platformSecret)
      const path = '/api/stripe/webhook/connect'
      const called = await context.requestOf(app, { method: 'POST', path, headers, body })
      if (called.came !== 'answer') return false
      if (called.status === 200) return true
      if (!context.stage.isOff(app, clocksAgreeMs)) {
        const found = `${called.status} ${JSON.stringify(called.body)}`
        context.fail({ what: notification.notificationId, expected: '200 or 503', found })
      }
      return false
    })
    context.acknowledged()
  }

  async function sell(): Promise<void> {
    const { sold, refunded: refund } = purchase(`s${++names}`)
    const sale = sold()
    await notify(sale)
    sales.push(sale.saleId)
    if (context.random.chance(0.3)) await notify(sale)
    if (!context.random.chance(0.3)) return
    await notify(refund('re_1'))
    refunded.push(sale.saleId)
    if (context.random.chance(0.3)) await notify(refund('re_1'))
  }

  return { sales, refunded, mint, sell }
}
