import { type Amount, amountOf, amountText, least, notNegative, sumOf } from './amount.ts'

/** What an amount was taken from, in this order: what it does not take from one, it takes from the next. */
export type Shares = {
  /** What the period before left over. */
  rolledOver: Amount
  included: Amount
  /** By the id of the credit, the one that ends first before the others. */
  credits: ReadonlyMap<string, Amount>
  /** Beyond all of these. */
  overage: Amount
}

/** The same in an event; what nothing was taken from is left out. */
export type SharesText = {
  rolledOver?: string | undefined
  included?: string | undefined
  credits?: Record<string, string> | undefined
  overage?: string | undefined
}

export const noShares: Shares = { rolledOver: 0n, included: 0n, credits: new Map(), overage: 0n }

export const totalOf = ({ rolledOver, included, credits, overage }: Shares): Amount =>
  rolledOver + included + sumOf(credits.values()) + overage

/**
 * Takes an amount from what is free.
 * @param free how much there is of each; `overage` undefined for any amount
 * @returns undefined when there is not enough
 */
export function taken(
  amount: Amount,
  free: Omit<Shares, 'overage'> & { overage: Amount | undefined },
): Shares | undefined {
  let left = amount
  const from = (there: Amount): Amount => {
    const part = least(left, notNegative(there))
    left -= part
    return part
  }
  const rolledOver = from(free.rolledOver)
  const included = from(free.included)
  const credits = new Map<string, Amount>()
  for (const [creditId, there] of free.credits) {
    const part = from(there)
    if (part > 0n) credits.set(creditId, part)
  }
  const overage = free.overage === undefined ? left : from(free.overage)
  if (free.overage === undefined) left = 0n
  return left === 0n ? { rolledOver, included, credits, overage } : undefined
}

/** The first part of what was taken: a hold is committed with less than it held. @param amount not more than the total */
export const firstOf = (shares: Shares, amount: Amount): Shares => taken(amount, shares) ?? noShares

export function plus(one: Shares, other: Shares): Shares {
  const credits = new Map(one.credits)
  for (const [creditId, amount] of other.credits)
    credits.set(creditId, (credits.get(creditId) ?? 0n) + amount)
  return {
    rolledOver: one.rolledOver + other.rolledOver,
    included: one.included + other.included,
    credits,
    overage: one.overage + other.overage,
  }
}

export function minus(one: Shares, other: Shares): Shares {
  const credits = new Map(one.credits)
  for (const [creditId, amount] of other.credits)
    credits.set(creditId, (credits.get(creditId) ?? 0n) - amount)
  return {
    rolledOver: one.rolledOver - other.rolledOver,
    included: one.included - other.included,
    credits,
    overage: one.overage - other.overage,
  }
}

export const sharesOf = ({ rolledOver, included, credits, overage }: SharesText): Shares => ({
  rolledOver: amountOf(rolledOver ?? '0'),
  included: amountOf(included ?? '0'),
  credits: new Map(Object.entries(credits ?? {}).map(([creditId, amount]) => [creditId, amountOf(amount)])),
  overage: amountOf(overage ?? '0'),
})

export const sharesText = ({ rolledOver, included, credits, overage }: Shares): SharesText => ({
  ...(rolledOver > 0n && { rolledOver: amountText(rolledOver) }),
  ...(included > 0n && { included: amountText(included) }),
  ...(credits.size > 0 && {
    credits: Object.fromEntries(Array.from(credits, ([creditId, amount]) => [creditId, amountText(amount)])),
  }),
  ...(overage > 0n && { overage: amountText(overage) }),
})
