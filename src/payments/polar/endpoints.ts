import { z } from 'zod'
import { callWithKey, contentOf, requireRemoved } from '../call-with-key.ts'
import { endpointName, hasAll, type ProviderEndpoints } from '../endpoints.ts'
import { asEndpointProblem } from '../errors.ts'

const Endpoint = z.object({
  id: z.string().min(1),
  url: z.string(),
  name: z.string().nullish(),
  format: z.string(),
  secret: z.string().min(1),
  enabled: z.boolean().optional().default(true),
  events: z.array(z.string()),
})
const Endpoints = z.object({ items: z.array(Endpoint) })

/** The most that Polar lists in one response. */
const inList = 100

/**
 * Endpoints of the organization that the token belongs to. Polar makes the secrets, and shows them again.
 * @see https://polar.sh/docs/api-reference/webhooks/endpoints/create
 */
export function polarEndpoints(apiUrl: string, apiKey: string, timeLimitMs: number): ProviderEndpoints {
  const url = `${apiUrl}/v1/webhooks/endpoints`
  const call = { apiKey, accept: 'application/json', timeLimitMs }
  return {
    async find(address, events) {
      const answer = await callWithKey('polar', `${url}?limit=${inList}`, call)
      const { items } = contentOf(Endpoints, answer)
      return items
        .filter((endpoint) => endpoint.url === address)
        .map(({ id, name, secret, format, enabled, events: has }) => ({
          id,
          secret,
          isNamedSo: name === endpointName,
          isComplete: enabled && format === 'raw' && hasAll(has, events),
        }))
    },
    async create({ address, events }) {
      const body = { url: address, name: endpointName, format: 'raw', events }
      try {
        const answer = await callWithKey('polar', url, { ...call, method: 'POST', body })
        return contentOf(Endpoint, answer)
      } catch (error) {
        throw asEndpointProblem(error)
      }
    },
    async remove(id) {
      const one = `${url}/${encodeURIComponent(id)}`
      requireRemoved(await callWithKey('polar', one, { ...call, method: 'DELETE' }))
    },
  }
}
