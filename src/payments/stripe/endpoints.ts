import type { Stripe } from 'stripe'
import { z } from 'zod'
import { endpointName, hasAll, type ProviderEndpoints } from '../endpoints.ts'
import { asEndpointProblem, unlessMissing } from '../errors.ts'
import type { Call } from './call.ts'

const Endpoint = z.object({
  id: z.string().min(1).max(255),
  url: z.string(),
  status: z.string(),
  enabled_events: z.array(z.string()),
  description: z.string().nullish(),
})
const Endpoints = z.object({ data: z.array(Endpoint) })
const Created = Endpoint.extend({ secret: z.string().min(1) })

/** The most that Stripe lists in one response; an account has at most 16. */
const inList = 100

type EnabledEvent = Stripe.WebhookEndpointCreateParams.EnabledEvent

/**
 * Endpoints of a vendor's own account. Stripe makes the secret, and shows it only when an endpoint is created.
 * @param key a key of the account that may write webhook endpoints
 * @see https://docs.stripe.com/api/webhook_endpoints/create
 */
export const stripeEndpoints = (call: Call, key: string): ProviderEndpoints => ({
  async find(address, events) {
    const { data } = await call(key, Endpoints, (stripe) => stripe.webhookEndpoints.list({ limit: inList }))
    return data
      .filter(({ url }) => url === address)
      .map(({ id, status, enabled_events: has, description }) => ({
        id,
        secret: null,
        isComplete: status === 'enabled' && hasAll(has, events),
        isNamedSo: description === endpointName,
      }))
  },
  async create({ address, events }) {
    const params = { url: address, enabled_events: [...events] as EnabledEvent[], description: endpointName }
    try {
      return await call(key, Created, (stripe) => stripe.webhookEndpoints.create(params))
    } catch (error) {
      throw asEndpointProblem(error)
    }
  },
  async remove(id) {
    const Deleted = z.object({ id: z.string() })
    await call(key, Deleted, (stripe) => stripe.webhookEndpoints.del(id)).catch(unlessMissing)
  },
})
