import type { Environment } from '@paddle/paddle-node-sdk'
import { z } from 'zod'
import { tagOf } from '../../domain/portal/languages.ts'
import { ask, ProviderRefused, ProviderUnavailable } from '../errors.ts'
import type { Buyer } from '../notification.ts'
import { intervalWords, joinedName, type Offered } from '../offered.ts'

/**
 * Lists the types of events, which paddle recommends for testing a key: it needs no permission and changes
 * nothing.
 * @see https://developer.paddle.com/api-reference/about/authentication
 * @throws ProviderRefused for a key that is not valid, ProviderUnavailable
 */
export async function checkApiKey(apiUrl: string, apiKey: string, timeLimitMs: number): Promise<void> {
  const { paddle, errorOf } = await connect(apiUrl, apiKey)
  await ask(
    'paddle',
    timeLimitMs,
    async () => {
      const types = await paddle.eventTypes.list()
      if (!Array.isArray(types)) throw new Error('no list')
    },
    errorOf,
  )
}

/** Keys of the sandbox contain a marker. */
export const isSandboxKey = (apiKey: string): boolean => apiKey.includes('_sdbx_')

/**
 * @see https://developer.paddle.com/api-reference/customers/get-customer
 * @throws ProviderRefused for a customer that the key has no access to, ProviderUnavailable
 */
export async function readCustomer(
  apiUrl: string,
  apiKey: string,
  customerId: string,
  timeLimitMs: number,
): Promise<Buyer | null> {
  const { paddle, errorOf } = await connect(apiUrl, apiKey)
  const { email, name, locale } = await ask(
    'paddle',
    timeLimitMs,
    async () => Customer.parse(await paddle.customers.get(customerId)),
    errorOf,
  )
  const language = tagOf(locale)
  return email ? { email, ...(name && { name }), ...(language && { language }) } : null
}

const Customer = z.object({
  email: z.string().nullish(),
  name: z.string().nullish(),
  locale: z.string().nullish(),
})

const Price = z.object({
  id: z.string().min(1),
  name: z.string().nullish(),
  description: z.string().nullish(),
  billingCycle: z.object({ interval: z.string(), frequency: z.int().positive() }).nullish(),
  unitPrice: z.object({ amount: z.string().regex(/^\d{1,15}$/), currencyCode: z.string().length(3) }),
  product: z.object({ name: z.string().nullish() }).nullish(),
})

/** The most that Paddle lists in one response. */
const pricesInList = 200

/**
 * Lists the newest active prices with the names of their products.
 * @see https://developer.paddle.com/api-reference/prices/list-prices
 * @throws ProviderRefused for a key that may not read prices and products, ProviderUnavailable
 */
export async function listPrices(apiUrl: string, apiKey: string, timeLimitMs: number): Promise<Offered> {
  const { paddle, errorOf } = await connect(apiUrl, apiKey)
  return ask(
    'paddle',
    timeLimitMs,
    async () => {
      const prices = paddle.prices.list({ include: ['product'], status: ['active'], perPage: pricesInList })
      const found = z.array(Price).parse(await prices.next())
      return { items: found.map(offeredOf), hasMore: prices.hasMore }
    },
    errorOf,
  )
}

const offeredOf = ({ id, name, description, billingCycle, unitPrice, product }: z.infer<typeof Price>) => ({
  item: id,
  name: joinedName(product?.name, name || description),
  unitAmount: Number(unitPrice.amount),
  currency: unitPrice.currencyCode.toLowerCase(),
  interval: billingCycle ? intervalWords(billingCycle.interval, billingCycle.frequency) : null,
})

/**
 * Paddle's client for a key, and what its errors mean.
 * @param apiUrl that of paddle's live API stands for its sandbox as well, depending on the key
 */
export async function connect(apiUrl: string, apiKey: string) {
  // Loaded on demand: it takes a fifth of a second, which only users of paddle should wait for.
  const { ApiError, Environment: Known, Paddle } = await import('@paddle/paddle-node-sdk')
  const isSandbox = isSandboxKey(apiKey) && new URL(apiUrl).hostname === 'api.paddle.com'
  // The SDK accepts a URL in place of an environment's name, which its types do not allow.
  const environment = isSandbox ? Known.sandbox : (apiUrl as Environment)
  const paddle = new Paddle(apiKey, { environment })
  const errorOf = (error: unknown) => {
    if (!(error instanceof ApiError)) return new ProviderUnavailable('paddle', 'no usable response')
    const isRefusal = error.type === 'request_error' && error.code !== 'too_many_requests'
    if (!isRefusal) {
      return new ProviderUnavailable('paddle', 'an internal error', error.retryAfter ?? undefined)
    }
    return new ProviderRefused('paddle', error.code === 'forbidden' ? 'permission' : 'key')
  }
  return { paddle, errorOf }
}
