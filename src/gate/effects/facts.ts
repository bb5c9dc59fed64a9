import { readMaskedKeys } from '../../../projections/client-keys.ts'
import { countPendingOf } from '../../../projections/deliveries/counts.ts'
import { findIntegration } from '../../../projections/integrations.ts'
import { tokenStatusAt } from '../../../projections/tokens/list.ts'
import { listEndpoints } from '../../../projections/webhooks.ts'
import { momentOf } from '../../commands/origin.ts'
import { requireToken } from '../../commands/tokens.ts'
import { sameJson } from '../../domain/equality.ts'
import { Provider } from '../../domain/integrations/provider.ts'
import { streamName, tenantStream } from '../../domain/streams.ts'
import type { WebhookEndpoint } from '../../domain/webhooks/endpoint.ts'
import { WebhookEvent } from '../../domain/webhooks/events.ts'
import { evolveWebhook, findEndpoint, noWebhook, type Webhook } from '../../domain/webhooks/webhook.ts'
import type { Ports } from '../../ports.ts'
import type { Counted, Fact } from './effect.ts'
import type { Decided } from './rehearsal-ledger.ts'

/** What decided events change beside licenses and key types: tokens, endpoints, keys and secrets. */
export async function factsOf(
  ports: Ports<'db' | 'now'>,
  tenantId: string,
  { category, id, events }: Decided,
): Promise<Fact[]> {
  const types = events.map(({ type }) => type)
  switch (category) {
    case 'token':
      return types.includes('TokenRevoked') ? [await revokedToken(ports, tenantId, id)] : []
    case 'webhook':
      return endpointFacts(ports, tenantId, WebhookEvent.array().parse(events))
    case 'tenant':
      if (types.includes('SdkKeyIssued')) return [{ what: 'sdk_key_created' }]
      if (types.includes('SdkKeyRotated')) return [await replacedSdkKey(ports, tenantId)]
      return types.includes('ApprovalRuleChanged')
        ? [{ what: 'recorded', stream: tenantStream(tenantId), events: types }]
        : []
    case 'role':
    case 'signin':
      return [{ what: 'recorded', stream: streamName(category, id), events: types }]
    case 'integration':
      return types.some((type) => type === 'WebhookSecretRotated' || type === 'PingTokenRotated')
        ? [await replacedSecret(ports, tenantId, id)]
        : []
    default:
      return []
  }
}

async function revokedToken(ports: Ports<'db' | 'now'>, tenantId: string, id: string): Promise<Fact> {
  const listed = await requireToken(ports, tenantId, id)
  const worked = tokenStatusAt(listed, momentOf(ports)) === 'active'
  return { what: 'token_revoked', tokenId: id, name: listed.token.name, worked }
}

async function replacedSdkKey({ db }: Ports<'db'>, tenantId: string): Promise<Fact> {
  const { sdkKey } = await readMaskedKeys(db, tenantId)
  return sdkKey ? { what: 'sdk_key_replaced', displayKey: sdkKey.displayKey } : { what: 'sdk_key_created' }
}

/** @param id ends with the provider, as the stream of a connection does */
async function replacedSecret({ db }: Ports<'db'>, tenantId: string, id: string): Promise<Fact> {
  const provider = Provider.parse(id.slice(tenantId.length + 1))
  const integration = await findIntegration(db, tenantId, provider)
  return { what: 'provider_secret_replaced', provider, products: integration?.mappings.length ?? 0 }
}

async function endpointFacts(
  ports: Ports<'db'>,
  tenantId: string,
  events: readonly WebhookEvent[],
): Promise<Fact[]> {
  const endpoints = await listEndpoints(ports.db, tenantId)
  const before: Webhook = { ...noWebhook, tenantId, endpoints }
  const after = events.reduce(evolveWebhook, before)
  const added = after.endpoints.filter(({ endpointId }) => !findEndpoint(before, endpointId))
  const facts = endpoints.map(async (endpoint): Promise<Fact[]> => {
    const now = findEndpoint(after, endpoint.endpointId)
    const about = { endpointId: endpoint.endpointId, host: hostOf(endpoint) }
    if (now && sameJson(now, endpoint)) return []
    const pendingDeliveries = await pendingOf(ports, tenantId, endpoint.endpointId)
    if (!now) return [{ what: 'endpoint_removed', ...about, pendingDeliveries }]
    return [
      ...(sameJson(settingsOf(now), settingsOf(endpoint))
        ? []
        : [{ what: 'endpoint_changed', ...about, ...changesOf(endpoint, now), pendingDeliveries } as const]),
      ...(now.secret.operationId === endpoint.secret.operationId
        ? []
        : [{ what: 'endpoint_secret_replaced', ...about } as const]),
    ]
  })
  return [
    ...(await Promise.all(facts)).flat(),
    ...added.map(
      (endpoint): Fact => ({
        what: 'endpoint_added',
        host: hostOf(endpoint),
        events: [...endpoint.events],
        ordering: endpoint.ordering,
      }),
    ),
  ]
}

const hostOf = ({ url }: WebhookEndpoint): string => new URL(url).host

const settingsOf = ({ url, events, description, ordering, pausedAt }: WebhookEndpoint) => ({
  url,
  events,
  description,
  ordering,
  paused: pausedAt !== null,
})

const changesOf = (before: WebhookEndpoint, after: WebhookEndpoint) => ({
  to: hostOf(after),
  urlChanges: before.url !== after.url,
  eventsAppearing: after.events.filter((name) => !before.events.includes(name)),
  eventsDisappearing: before.events.filter((name) => !after.events.includes(name)),
  ordering: before.ordering === after.ordering ? null : after.ordering,
  paused: after.pausedAt !== null,
})

/** Up to this number, pending deliveries are counted. */
const mostPending = 10_000

async function pendingOf({ db }: Ports<'db'>, tenantId: string, endpointId: string): Promise<Counted> {
  const count = await countPendingOf(db, tenantId, endpointId, mostPending)
  return { count, counted: count < mostPending ? 'exactly' : 'at_least' }
}
