import { z } from 'zod'
import { findWebhook } from '../../../projections/webhooks.ts'
import { removeWebhook, setWebhook as set, type WebhookSet } from '../../commands/webhooks.ts'
import { Refusal, type RefusalCode } from '../../domain/refusal.ts'
import type { WebhookEndpoint } from '../../domain/webhooks/endpoint.ts'
import { eventsByName, WebhookEventName } from '../../domain/webhooks/events.ts'
import type { Ports } from '../../ports.ts'
import type { TargetFault } from '../../webhooks/targets.ts'
import { type Description, type Detail, gatedOperation } from '../operation.ts'

export const webhookUrl = z
  .string()
  .max(2048)
  .regex(/^\S+$/, 'must be a URL without white space')
  .refine((value) => !/\p{C}/u.test(value), 'must be a URL without invisible characters')
  .refine((value) => URL.canParse(value), 'must be a URL')

/** The events of an endpoint that names none. */
export const defaultInWords = `all but ${eventsByName.join(', ')}`

const settings = z
  .strictObject({
    url: webhookUrl
      .nullable()
      .meta({ description: 'An https URL with a public address; null removes the webhook' }),
    events: z
      .array(WebhookEventName)
      .min(1)
      .max(100)
      .optional()
      .meta({ description: `A set. When absent, the current events stay; ${defaultInWords} at first` }),
    rotateSecret: z
      .boolean()
      .optional()
      .meta({ description: 'Creates a new secret; the previous one stays valid for 24 hours' }),
  })
  .meta({ example: { url: 'https://hooks.example.com/keyledger', events: ['license.created'] } })
type Settings = z.infer<typeof settings>

export const setWebhook = gatedOperation({
  name: 'webhook.set',
  title: 'Set the webhook',
  method: 'PUT',
  path: '/v1/webhook',
  scope: 'integrations:write',
  input: z.object({ body: settings }),
  async check(ports, _tenantId, { body }) {
    if (body.url === null) {
      if (body.events !== undefined || body.rotateSecret) throw new Refusal('webhook_without_url')
      return
    }
    await refuseBadTarget(ports, body.url)
  },
  async describe(ports, tenantId, { body }) {
    const { endpoint, revision } = await findWebhook(ports.db, tenantId)
    return { ...wordsFor(body, endpoint), state: { revision } }
  },
  async run(ports, tenantId, { body }, { id, origin }): Promise<WebhookSet> {
    const { url, events, rotateSecret = false } = body
    if (url !== null) return set(ports, tenantId, { url, events, rotateSecret }, id, origin)
    await removeWebhook(ports, tenantId, id, origin)
    return { webhook: null }
  },
})

/** @throws Refusal when no license event may be sent to the URL */
export async function refuseBadTarget({ checkTarget }: Ports<'checkTarget'>, url: string): Promise<void> {
  const fault = await checkTarget(new URL(url))
  if (fault !== undefined) throw new Refusal(refusedAs[fault])
}

const refusedAs: Record<TargetFault, RefusalCode> = {
  'not https': 'webhook_target_not_https',
  credentials: 'webhook_target_has_credentials',
  'not public': 'webhook_target_not_public',
}

/** The host and port of the actual connection: a name that is not ASCII is in punycode. */
export const hostIn = (url: string): string => new URL(url).host

function wordsFor(
  { url, events }: Settings,
  endpoint: WebhookEndpoint | null,
): Pick<Description, 'summary' | 'details' | 'target'> {
  if (url === null) {
    const from = endpoint ? ` to ${hostIn(endpoint.url)}` : ' (no webhook is set up)'
    return { summary: `Stop delivering license events${from}` }
  }
  return {
    summary: `Deliver license events to ${hostIn(url)}`,
    target: { host: hostIn(url), url },
    details: endpoint ? moved(endpoint, events) : undefined,
  }
}

/** What an endpoint goes on to get at its new URL: an effect names only the events that it gains or loses. */
export const moved = (endpoint: WebhookEndpoint, events = endpoint.events): readonly Detail[] => [
  ['URL now', endpoint.url],
  ['Events', [...new Set(events)].map(withKeyNote).join(', ')],
]

const withKeyNote = (name: WebhookEventName): string =>
  name === 'license.created' ? `${name} (contains the raw license key of its sale)` : name
