import { z } from 'zod'

/** An event of a sale, or a fact within one: by its provider, or by the vault name of its notification. */
const OfGumroad = z.union([
  z.looseObject({ provider: z.literal('gumroad') }),
  z.looseObject({ source: z.literal('gumroad') }),
  z.looseObject({ payload: z.string().startsWith('notification.gumroad.') }),
])
const WithCurrency = z.looseObject({ currency: z.string() })
const WithFact = z.looseObject({ fact: z.looseObject({ data: WithCurrency }) })

/**
 * Gumroad's amounts are US cents. They used to be recorded with the currency that the seller had priced the product
 * in. Other providers' data is left unchanged.
 */
export function gumroadInDollars(data: unknown): unknown {
  if (!OfGumroad.safeParse(data).success) return data
  const noticed = WithFact.safeParse(data).data
  if (noticed) {
    const { fact } = noticed
    return { ...noticed, fact: { ...fact, data: { ...fact.data, currency: 'usd' } } }
  }
  const own = WithCurrency.safeParse(data).data
  return own ? { ...own, currency: 'usd' } : data
}
