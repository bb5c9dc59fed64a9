import { findIntegration } from '../../../projections/integrations.ts'
import type { IntegrationCommand, KnownIntegration } from '../../domain/integrations/integration.ts'
import { Refusal } from '../../domain/refusal.ts'
import type { CardAccess } from '../../payments/stripe/api.ts'
import type { Ports } from '../../ports.ts'
import type { Origin } from '../origin.ts'
import { apiKeyOf } from './api-key.ts'
import { type Change, changeWith, keepSecret } from './integrations.ts'

/** What a tenant's own account at the card provider is connected with. */
export type OwnAccount = {
  /** A restricted key, which has no more permissions than the vendor gives it. */
  apiKey: string
  /** The signing secret of the account's own webhook endpoint. */
  webhookSecret: string
}

const restrictedKey = /^rk_(live|test)_[\x21-\x7e]+$/

/** The mode of a restricted key. @throws Refusal `restricted_key_wanted` for any other key */
export function modeOfRestrictedKey(apiKey: string): 'live' | 'test' {
  const mode = restrictedKey.exec(apiKey)?.[1]
  if (mode !== 'live' && mode !== 'test') throw new Refusal('restricted_key_wanted')
  return mode
}

/**
 * Connects the tenant's own account at the card provider with a key of that account, without a platform and its fee.
 * The key is tested at the provider first. Repeating an operation changes nothing and returns the first result.
 * @throws Refusal `restricted_key_wanted`, `integration_connected`
 * @throws ProviderRefused when the key is not accepted, ProviderUnavailable; nothing has changed then
 */
export async function connectOwnAccount(
  ports: Ports<'db' | 'execute' | 'now' | 'providers' | 'secrets'>,
  tenantId: string,
  { apiKey, webhookSecret }: OwnAccount,
  operationId: string,
  origin: Origin,
): Promise<KnownIntegration> {
  modeOfRestrictedKey(apiKey)
  const known = await findIntegration(ports.db, tenantId, 'stripe')
  if (known?.operationIds.includes(operationId)) return known
  if (known?.status === 'connected') throw new Refusal('integration_connected')
  await ports.providers.card.checkKey(apiKey)
  const change = { tenantId, provider: 'stripe', operationId } as const
  const names = {
    apiKey: await keepSecret(ports, change, 'apiKey', apiKey),
    webhookSecret: await keepSecret(ports, change, 'webhookSecret', webhookSecret),
  }
  return changeWith(ports, change, Object.values(names), origin, connectCardKey(change, apiKey, names))
}

/**
 * The command that connects an own account with sealed credentials.
 * @throws Refusal `restricted_key_wanted`
 */
export function connectCardKey(
  { tenantId, operationId }: Change,
  apiKey: string,
  names: Pick<CardKeyCommand, 'apiKey' | 'webhookSecret' | 'endpointId'>,
): (at: string) => CardKeyCommand {
  const test = modeOfRestrictedKey(apiKey) === 'test'
  return (at) => ({ type: 'ConnectCardKey', tenantId, operationId, ...names, test, at })
}

type CardKeyCommand = Extract<IntegrationCommand, { type: 'ConnectCardKey' }>

/** How the card provider is called for a tenant's own account; undefined without one. */
export async function ownAccessOf(
  ports: Ports<'secrets'>,
  integration: KnownIntegration,
): Promise<Extract<CardAccess, { key: string }> | undefined> {
  if (integration.status !== 'connected' || !integration.ownAccount) return undefined
  const key = await apiKeyOf(ports, integration)
  return key === undefined ? undefined : { key }
}
