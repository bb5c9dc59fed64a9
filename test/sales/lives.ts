import fc from 'fast-check'
import { Provider } from '../../src/domain/integrations/provider.ts'

/** What became of the money of one payment. */
export type Fate = 'kept' | 'part' | 'parts' | 'refunded' | 'disputed' | 'lost' | 'won'

export type Change = { plan: 'solo' | 'team'; quantity: number; paused: boolean }

/** A purchase, and all that became of it: what a provider tells of it follows, and what its license has to be. */
export type Life = {
  name: string
  provider: Provider
  isSubscription: boolean
  /** Whether the license has no end of its own, also as a subscription. */
  isPerpetual: boolean
  amount: number
  /** How many units of a second item were bought with it; 0 without one. */
  extras: number
  /** Of the first payment and of each renewal, in order. A purchase that is paid once has one. */
  fates: readonly Fate[]
  /** Changes of the subscription, in order; each within the period of the payment before it. */
  changes: readonly Change[]
  hasEnded: boolean
  /** Whether it ended because it had a fixed number of payments; only gumroad tells. */
  isPaidInFull: boolean
}

const providers = Provider.options

/** Whether one sale of the provider can have several items. */
const hasItems = (provider: Provider): boolean => provider !== 'gumroad' && provider !== 'polar'

/** Lemon Squeezy and Polar tell no disputes; gumroad tells one when the money is gone. */
const fatesOf = (provider: Provider): readonly Fate[] => {
  const refunds: readonly Fate[] = ['kept', 'kept', 'part', 'parts', 'refunded']
  if (provider === 'lemonsqueezy' || provider === 'polar') return refunds
  return [...refunds, 'lost', 'won', ...(provider === 'gumroad' ? [] : (['disputed'] as const))]
}

export const lifeOf = (name: string): fc.Arbitrary<Life> =>
  fc
    .tuple(fc.constantFrom(...providers), fc.boolean(), fc.boolean())
    .chain(([provider, isSubscription, isPerpetual]) =>
      fc.record({
        name: fc.constant(name),
        provider: fc.constant(provider),
        isSubscription: fc.constant(isSubscription),
        isPerpetual: fc.constant(isPerpetual),
        amount: fc.constantFrom(1000, 4900, 9900),
        extras: hasItems(provider) ? fc.constantFrom(0, 1, 3) : fc.constant(0),
        fates: fc.array(fc.constantFrom(...fatesOf(provider)), {
          minLength: 1,
          maxLength: isSubscription ? 5 : 1,
        }),
        changes: fc.array(
          fc.record({
            plan: fc.constantFrom('solo' as const, 'team' as const),
            quantity: fc.constantFrom(1, 2, 7),
            paused: fc.boolean(),
          }),
          { maxLength: isSubscription && provider !== 'gumroad' ? 3 : 0 },
        ),
        hasEnded: isSubscription ? fc.boolean() : fc.constant(false),
        isPaidInFull: provider === 'gumroad' ? fc.boolean() : fc.constant(false),
      }),
    )

/** When the payment of this number is made, and until when it pays: a month each, from the one before it. */
export const paidAt = (number: number): string => new Date(Date.UTC(2026, number, 1, 12, 0, 5)).toISOString()
export const paidUntil = (number: number): string =>
  new Date(Date.UTC(2026, number + 1, 1, 12, 0, 5)).toISOString()

/** Within the period of the last payment, so that nothing but its own time says when a change was made. */
export const changedAt = (life: Life, number: number): string =>
  new Date(Date.parse(paidAt(life.fates.length - 1)) + (number + 1) * 3_600_000).toISOString()

export const endedAt = (life: Life): string => paidUntil(life.fates.length - 1)

const isGone = (fate: Fate): boolean => fate === 'parts' || fate === 'refunded' || fate === 'lost'

/** How many devices one unit of each key type allows. */
export const limits = { solo: 2, team: 5, extra: 3 } as const

/**
 * What the license has to be, by the money alone.
 * @param issuedUntil its own end, before the first payment's
 */
export function wantedOf(life: Life, issuedUntil: string | null) {
  const paid = life.fates.flatMap((fate, number) => (isGone(fate) ? [] : [number]))
  const isAlive = paid.length > 0
  const last = life.changes.at(-1)
  const { plan, quantity } = last ?? { plan: 'solo' as const, quantity: 1 }
  return {
    isAlive,
    refunded: life.fates.filter(isGone).length,
    keyTypeId: plan,
    quantity,
    deviceLimit: limits[plan] * quantity,
    expiresAt: life.isSubscription ? endOf(life, paid, last?.paused ?? false) : issuedUntil,
  }
}

/** What the license of the second item has to be: it has the same payments, and no change concerns it. */
export const wantedOfExtra = (life: Life, issuedUntil: string | null) => ({
  ...wantedOf(life, issuedUntil),
  keyTypeId: 'extra',
  quantity: life.extras,
  deviceLimit: limits.extra * life.extras,
})

/** The last period that is paid; of a revoked license, the last one that was. */
function endOf(life: Life, paid: readonly number[], isPaused: boolean): string | null {
  const end = paidUntil(paid.at(-1) ?? life.fates.length - 1)
  // All payments are kept, or all are gone, and the license is revoked.
  const isWhole = paid.length === life.fates.length || paid.length === 0
  if (life.isPerpetual && life.hasEnded && life.isPaidInFull && isWhole) return null
  if (!life.isPerpetual || life.hasEnded || isPaused) return end
  // Without an end of its own it runs on, unless the newest period was taken back.
  const isCurrent = paid.length === 0 || paid.at(-1) === life.fates.length - 1
  return isCurrent ? null : end
}

/** How much of a payment a provider tells as refunded, refund by refund. */
export function refundsOf(fate: Fate, amount: number): number[] {
  if (fate === 'part') return [amount / 10]
  if (fate === 'parts') return [amount / 10, amount - amount / 10 - 7, 7]
  return fate === 'refunded' ? [amount] : []
}

/** A body as the provider sends it, and where; gumroad's pings and its other forms go to two addresses. */
export type Sent = { raw: string; address?: 'resource' }
