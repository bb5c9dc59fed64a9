/** An amount in millionths of its unit, so that sums are exact. */
export type Amount = bigint

const form = /^(?:0|[1-9]\d{0,11})(?:\.\d{1,6})?$/

/** @returns undefined for what is no decimal number with up to 12 digits before the point and 6 after it */
export function amountFrom(text: unknown): Amount | undefined {
  if (typeof text !== 'string' || !form.test(text)) return undefined
  const [whole = '', fraction = ''] = text.split('.')
  return BigInt(whole) * 1_000_000n + BigInt(fraction.padEnd(6, '0'))
}

/** The shortest decimal number that is this amount. @param amount not negative */
export function amountText(amount: Amount): string {
  const fraction = (amount % 1_000_000n).toString().padStart(6, '0').replace(/0+$/, '')
  return `${amount / 1_000_000n}${fraction && '.'}${fraction}`
}
