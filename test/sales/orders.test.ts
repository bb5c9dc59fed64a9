/**
 * Guarantee: for any purchases at the five providers, of one item or two, and any order and repetition of their
 * notifications, the licenses are those of the original order, and they are active exactly when a payment is left that was not
 * returned.
 */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { IssuedLicense } from '../../src/domain/licenses/license.ts'
import { translatePing, translateResource } from '../../src/payments/gumroad/notification.ts'
import { translateLemonSqueezy } from '../../src/payments/lemonsqueezy/notification.ts'
import type { PaymentNotification } from '../../src/payments/notification.ts'
import { translatePaddle } from '../../src/payments/paddle/notification.ts'
import { translatePolar } from '../../src/payments/polar/notification.ts'
import { withLineItems } from '../../src/payments/stripe/line-items.ts'
import { translateStripe } from '../../src/payments/stripe/notification.ts'
import type { Translated } from '../../src/payments/translated.ts'
import { testMs } from '../harness/time-limits.ts'
import { wholeVariable } from '../harness/variables.ts'
import { saleIdOf, sentOf } from './five-providers.ts'
import { type Life, lifeOf, type Sent, wantedOf, wantedOfExtra } from './lives.ts'
import { pureShop } from './pure-shop.ts'

const wantedNotifications = wholeVariable('KEYLEDGER_TEST_NOTIFICATIONS', 10_000)
const now = new Date('2026-01-01T00:00:00.000Z')
/** Before the end of the first period, so that what was paid decides. */
const issuedUntil = (life: Life): string | null => (life.isPerpetual ? null : '2026-01-02T00:00:00.000Z')

/** What these providers return when they are asked for the items. */
const lineItemsOf = ({ isPerpetual, extras }: Life) => [
  { price: isPerpetual ? 'solo' : 'solo_month', quantity: 1 },
  ...(extras > 0 ? [{ price: 'extra', quantity: extras }] : []),
]
const asVariant = ({ price, quantity }: { price: string; quantity: number }) => ({
  variantId: `variant_${price}`,
  productName: null,
  quantity,
})

async function translated(life: Life, { raw, address }: Sent): Promise<Translated | undefined> {
  switch (life.provider) {
    case 'stripe': {
      const told = translateStripe(raw)?.translated
      return told?.type === 'sold' ? withLineItems(told, lineItemsOf(life)) : told
    }
    case 'gumroad':
      return address === 'resource' ? translateResource(raw, now) : translatePing(raw, now)
    case 'lemonsqueezy':
      return translateLemonSqueezy(raw, {
        subscription: async () => undefined,
        orderItems: async () => lineItemsOf(life).map(asVariant),
      })
    case 'paddle':
      return translatePaddle(raw, { test: false, isMapped: () => true, readCustomer: undefined })
    case 'polar':
      return translatePolar(raw, `msg_${raw.length}`, false, now)
  }
}

async function toldOf(life: Life): Promise<PaymentNotification[]> {
  const all = await Promise.all(sentOf(life).map((sent) => translated(life, sent)))
  return all.flatMap((told) => {
    if (told === undefined || told.type === 'incomplete') throw new Error('a notification lacks something')
    return told.type === 'ignored' ? [] : [told]
  })
}

const comparable = ({ keyTypeId, quantity, deviceLimit, expiresAt, ...license }: IssuedLicense) => ({
  isAlive: license.revokedAt === null,
  refunded: license.refundedPayments.length,
  keyTypeId,
  quantity,
  deviceLimit,
  expiresAt: expiresAt && new Date(expiresAt).toISOString(),
})

/** Everything that each license is, but when and in which steps it became that. */
const withoutTimes = ({
  revokedAt,
  revokedReason: _,
  revokedCause,
  refundedAt,
  saleThrough: __,
  ...license
}: IssuedLicense) => ({
  ...license,
  isRevoked: revokedAt !== null,
  isBySale: revokedCause === 'refund' || revokedCause === 'dispute',
  isRefunded: refundedAt !== null,
})

const lives = fc
  .array(fc.integer(), { minLength: 8, maxLength: 8 })
  .chain((all) => fc.tuple(...all.map((_, index) => lifeOf(`n${index}`))))

test(`${wantedNotifications} notifications of five providers give the same licenses in every order`, {
  timeout: testMs + wantedNotifications * 20,
}, async () => {
  let told = 0
  const runs = Math.ceil(wantedNotifications / 35)
  await fc.assert(
    fc.asyncProperty(lives, fc.infiniteStream(fc.nat()), async (bought, random) => {
      const perLife = await Promise.all(bought.map(toldOf))
      const inOrder = perLife.flat()
      told += inOrder.length
      const twice = [...inOrder, ...inOrder].map((one) => ({ one, order: Number(random.next().value) }))
      const shuffled = twice.toSorted((a, b) => a.order - b.order).map(({ one }) => one)

      const until = new Map(bought.map((life) => [saleIdOf(life), issuedUntil(life)]))
      const [orderly, other] = [inOrder, shuffled].map((notifications) => {
        const shop = pureShop((saleId) => until.get(saleId) ?? null)
        for (const one of notifications) shop.tell(one)
        return shop
      })
      if (!orderly || !other) throw new Error('there are two')
      expect(other.count()).toBe(bought.length + bought.filter(({ extras }) => extras > 0).length)
      for (const life of bought) {
        const wanted = [wantedOf, ...(life.extras > 0 ? [wantedOfExtra] : [])]
        for (const [item, wantedOfItem] of wanted.entries()) {
          const place = [life.provider, saleIdOf(life), item] as const
          expect(withoutTimes(other.licenseOf(...place))).toStrictEqual(
            withoutTimes(orderly.licenseOf(...place)),
          )
          expect({ life, item, license: comparable(other.licenseOf(...place)) }).toStrictEqual({
            life,
            item,
            license: wantedOfItem(life, issuedUntil(life)),
          })
        }
      }
    }),
    { numRuns: runs, endOnFailure: false },
  )
  expect(told).toBeGreaterThanOrEqual(wantedNotifications)
})
