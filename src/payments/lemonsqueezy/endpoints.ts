import { z } from 'zod'
import { callWithKey, contentOf, requireRemoved } from '../call-with-key.ts'
import { hasAll, type ProviderEndpoints } from '../endpoints.ts'
import { asEndpointProblem, StoreWanted } from '../errors.ts'

const accept = 'application/vnd.api+json'

const User = z.object({ meta: z.object({ test_mode: z.boolean() }).optional() })
const Stores = z.object({
  data: z.array(z.object({ id: z.string().min(1), attributes: z.object({ name: z.string() }) })),
})
const Webhook = z.object({
  id: z.string().min(1),
  attributes: z.object({ url: z.string(), events: z.array(z.string()), test_mode: z.boolean() }),
})
const Webhooks = z.object({ data: z.array(Webhook) })

/** The most that Lemon Squeezy lists in one response. */
const inList = 100

/**
 * Webhooks of one store. The secret is keyledger's own; Lemon Squeezy does not show it. A webhook is of the mode of the
 * key: test or live.
 * @param storeId undefined for an account with a single store
 * @see https://docs.lemonsqueezy.com/api/webhooks/create-webhook
 */
export function lemonSqueezyEndpoints(
  apiUrl: string,
  apiKey: string,
  timeLimitMs: number,
  storeId?: string,
): ProviderEndpoints {
  const url = `${apiUrl}/v1/webhooks`
  const call = { apiKey, accept, timeLimitMs }
  const read = async <T extends z.ZodType>(shape: T, path: string) =>
    contentOf(shape, await callWithKey('lemonsqueezy', `${apiUrl}/v1/${path}`, call))

  let found: Promise<{ store: string; isTest: boolean }> | undefined
  const place = () => {
    found ??= findPlace()
    return found
  }

  async function findPlace() {
    const [{ data }, { meta }] = await Promise.all([
      read(Stores, `stores?page%5Bsize%5D=${inList}`),
      read(User, 'users/me'),
    ])
    const stores = data.map(({ id, attributes: { name } }) => ({ id, name }))
    const meant = storeId === undefined ? stores : stores.filter(({ id }) => id === storeId)
    const [store, ...others] = meant
    if (store === undefined || others.length > 0) throw new StoreWanted('lemonsqueezy', stores)
    return { store: store.id, isTest: meta?.test_mode ?? false }
  }

  return {
    async find(address, events) {
      const { store, isTest } = await place()
      const filter = `filter%5Bstore_id%5D=${encodeURIComponent(store)}&page%5Bsize%5D=${inList}`
      const { data } = await read(Webhooks, `webhooks?${filter}`)
      return data
        .filter(({ attributes }) => attributes.url === address && attributes.test_mode === isTest)
        .map(({ id, attributes }) => ({
          id,
          secret: null,
          isComplete: hasAll(attributes.events, events),
          isNamedSo: false,
        }))
    },
    async create({ address, events, secret }) {
      const { store, isTest } = await place()
      const body = {
        data: {
          type: 'webhooks',
          attributes: { url: address, events, secret, test_mode: isTest },
          relationships: { store: { data: { type: 'stores', id: store } } },
        },
      }
      try {
        const answer = await callWithKey('lemonsqueezy', url, { ...call, method: 'POST', body })
        return { id: contentOf(z.object({ data: Webhook }), answer).data.id, secret }
      } catch (error) {
        throw asEndpointProblem(error)
      }
    },
    async remove(id) {
      const one = `${url}/${encodeURIComponent(id)}`
      requireRemoved(await callWithKey('lemonsqueezy', one, { ...call, method: 'DELETE' }))
    },
  }
}
