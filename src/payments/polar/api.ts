import { z } from 'zod'
import { contentOf, readWithKey } from '../read-with-key.ts'

const Organizations = z.object({ items: z.array(z.unknown()) })

/**
 * Lists the token's organizations, to test it without a change.
 * @see https://polar.sh/docs/api-reference/organizations/list
 * @throws ProviderRefused for a token that is not valid or lacks `organizations:read`, ProviderUnavailable
 */
export async function checkApiKey(apiUrl: string, apiKey: string, timeLimitMs: number): Promise<void> {
  const accept = 'application/json'
  const url = `${apiUrl}/v1/organizations/?limit=1`
  contentOf(Organizations, await readWithKey('polar', url, { apiKey, accept, timeLimitMs }))
}
