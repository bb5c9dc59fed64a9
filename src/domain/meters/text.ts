import { amountOf, amountText } from './amount.ts'
import { type Credit, type Hold, type Meter, type MeterOwner, unusedMeter } from './meter.ts'
import type { Period } from './period.ts'
import { noShares, type Shares, type SharesText, sharesOf, sharesText } from './shares.ts'

/** Credits as pairs, since their order counts and JSON in a database does not keep that of names. */
type SharesInOrder = Omit<SharesText, 'credits'> & { credits?: [creditId: string, amount: string][] }

/** A meter as JSON. */
export type MeterText = {
  owner: MeterOwner | null
  periods: (Period & {
    used: SharesInOrder
    included: string
    reached?: readonly number[]
    reachedFurther?: number
    isClosed?: boolean
    lastToUse?: string | undefined
  })[]
  closed?: Meter['closed']
  credits: [creditId: string, credit: { left: string; endsAt: string | null }][]
  holds: [
    holdId: string,
    hold: Pick<Hold, 'period' | 'endsAt' | 'device' | 'licenseId'> & {
      amount: string
      from: SharesInOrder
      included: string
    },
  ][]
}

export const unusedText: MeterText = { owner: null, periods: [], credits: [], holds: [] }

export const meterText = ({ owner, periods, closed, credits, holds }: Meter): MeterText => ({
  owner,
  periods: periods.map(({ used, included, reached, reachedFurther, isClosed, ...period }) => ({
    ...period,
    used: sharesIn(used),
    included: amountText(included),
    ...(reached.length > 0 && { reached }),
    ...(reachedFurther > 0 && { reachedFurther }),
    ...(isClosed && { isClosed }),
  })),
  ...((closed.through !== null || closed.endless !== null) && { closed }),
  credits: Array.from(credits, ([creditId, { left, endsAt }]) => [
    creditId,
    { left: amountText(left), endsAt },
  ]),
  holds: Array.from(holds, ([holdId, { amount, from, included, ...hold }]) => [
    holdId,
    { ...hold, amount: amountText(amount), from: sharesIn(from), included: amountText(included) },
  ]),
})

export const meterOf = ({ owner, periods, closed, credits, holds }: MeterText): Meter => ({
  owner,
  periods: periods.map(
    ({ used, included, reached = [], reachedFurther = 0, isClosed = false, ...period }) => ({
      ...{ ...period, reached, reachedFurther, isClosed },
      used: sharesFrom(used),
      included: amountOf(included),
    }),
  ),
  closed: closed ?? unusedMeter.closed,
  credits: new Map(
    credits.map(([creditId, { left, endsAt }]): [string, Credit] => [
      creditId,
      { left: amountOf(left), endsAt },
    ]),
  ),
  holds: new Map(
    holds.map(([holdId, { amount, from, included, ...hold }]): [string, Hold] => [
      holdId,
      { ...hold, amount: amountOf(amount), from: sharesFrom(from), included: amountOf(included) },
    ]),
  ),
})

function sharesIn(shares: Shares): SharesInOrder {
  const { credits: _, ...others } = sharesText(shares)
  const credits = Array.from(shares.credits, ([creditId, amount]): [string, string] => [
    creditId,
    amountText(amount),
  ])
  return credits.length === 0 ? others : { ...others, credits }
}

const sharesFrom = ({ credits, ...others }: SharesInOrder): Shares => ({
  ...sharesOf(others),
  credits: credits
    ? new Map(credits.map(([creditId, amount]) => [creditId, amountOf(amount)]))
    : noShares.credits,
})
