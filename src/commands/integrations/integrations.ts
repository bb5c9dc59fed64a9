import { findIntegration } from '../../../projections/integrations.ts'
import type { PresentProduct } from '../../../projections/products/queries.ts'
import { newSecret } from '../../credentials/secret.ts'
import { sha256 } from '../../credentials/sha256.ts'
import type { CreditPack, CreditPacks } from '../../domain/integrations/credit-packs.ts'
import type { Credentials } from '../../domain/integrations/events.ts'
import {
  type Integration,
  type IntegrationCommand,
  integrations,
  type KnownIntegration,
  secretNames,
} from '../../domain/integrations/integration.ts'
import { type Mapping, targetsOf } from '../../domain/integrations/mapping.ts'
import type { Provider, ProviderWithApi, SigningMarketplace } from '../../domain/integrations/provider.ts'
import { findKeyType } from '../../domain/products/product.ts'
import { Refusal } from '../../domain/refusal.ts'
import { integrationKey } from '../../domain/streams.ts'
import type { Ports } from '../../ports.ts'
import { causeOf, momentOf, type Origin } from '../origin.ts'

/** The credentials of a marketplace. Gumroad has none: its ping URL holds a token of keyledger's. */
export type Connection =
  | { provider: 'gumroad' }
  | { provider: SigningMarketplace; webhookSecret: string; apiKey?: string | undefined }

export type Rotation = { provider: 'gumroad' } | { provider: ProviderWithApi; webhookSecret: string }

export type Changed = {
  integration: KnownIntegration
  /** A new token for gumroad's ping, to be shown once. */
  pingToken?: string | undefined
}

type Field = keyof Credentials
export type Change<P extends Provider = Provider> = { tenantId: string; provider: P; operationId: string }

/**
 * A secret's name in the vault. It contains the operation's id, so that a repetition after a crash uses the
 * same secret, and another operation's secret never replaces it.
 */
const nameOf = (change: Change, field: Field): string =>
  `integration.${change.provider}.${change.operationId}.${field}`

/**
 * Connects a marketplace. An API key is tested at the provider first. Repeating an operation changes nothing
 * and returns the result of the first run.
 * @throws Refusal `integration_connected`
 * @throws ProviderRefused when the API key is not accepted, ProviderUnavailable; nothing has changed then
 */
export async function connectMarketplace(
  ports: Ports<'db' | 'execute' | 'now' | 'providers' | 'randomBytes' | 'secrets'>,
  tenantId: string,
  connection: Connection,
  operationId: string,
  origin: Origin,
): Promise<Changed> {
  const { provider } = connection
  const known = await findIntegration(ports.db, tenantId, provider)
  if (known?.operationIds.includes(operationId)) return repeated(ports, known, operationId)
  if (known?.status === 'connected') throw new Refusal('integration_connected')
  if (connection.provider !== 'gumroad' && connection.apiKey !== undefined) {
    await ports.providers.checkApiKey(connection.provider, connection.apiKey)
  }
  const change = { tenantId, provider, operationId }
  const { credentials, pingToken } = await keepCredentials(ports, change, connection)
  const integration = await changeWith(ports, change, secretNames(credentials), origin, (at) => ({
    type: 'ConnectMarketplace',
    ...change,
    credentials,
    at,
  }))
  return { integration, pingToken }
}

/**
 * Replaces the secret that verifies a marketplace's notifications; the former one is invalid at once.
 * Repeating an operation changes nothing.
 * @throws Refusal `integration_not_connected`
 */
export async function rotateSecret(
  ports: Ports<'db' | 'execute' | 'now' | 'randomBytes' | 'secrets'>,
  tenantId: string,
  rotation: Rotation,
  operationId: string,
  origin: Origin,
): Promise<Changed> {
  const { provider } = rotation
  const known = await findIntegration(ports.db, tenantId, provider)
  if (known?.operationIds.includes(operationId)) return repeated(ports, known, operationId)
  if (known?.status !== 'connected') throw new Refusal('integration_not_connected')
  const change = { tenantId, provider, operationId }
  if (rotation.provider === 'gumroad') {
    const { token, ...pingToken } = await keepPingToken(ports, change)
    const integration = await changeWith(ports, change, [pingToken.name], origin, (at) => ({
      type: 'RotatePingToken',
      operationId,
      pingToken,
      at,
    }))
    return { integration, pingToken: token }
  }
  const webhookSecret = await keepSecret(ports, change, 'webhookSecret', rotation.webhookSecret)
  const integration = await changeWith(ports, change, [webhookSecret], origin, (at) => ({
    type: 'RotateWebhookSecret',
    operationId,
    webhookSecret,
    at,
  }))
  return { integration }
}

/** Removes a connection and destroys its secrets; the mappings stay. Nothing changes without a connection. */
export async function disconnect(
  ports: Ports<'execute' | 'now' | 'secrets'>,
  tenantId: string,
  provider: Provider,
  origin: Origin,
): Promise<Integration> {
  return changeIntegration(ports, tenantId, provider, origin, (at) => ({ type: 'Disconnect', at }))
}

/**
 * Replaces a product's mapping at a marketplace, or its payment links at the card provider.
 * @throws Refusal `mapping_key_type_not_found`, `integration_not_connected`, `mapping_taken`
 */
export async function mapProduct(
  ports: Ports<'execute' | 'now' | 'secrets'>,
  product: PresentProduct,
  provider: Provider,
  mapping: Mapping,
  origin: Origin,
): Promise<Integration> {
  if (!targetsOf(mapping).every((keyTypeId) => findKeyType(product, keyTypeId))) {
    throw new Refusal('mapping_key_type_not_found')
  }
  const { tenantId, productId } = product
  return changeIntegration(ports, tenantId, provider, origin, (at) => ({
    type: 'MapProduct',
    productId,
    mapping,
    at,
  }))
}

/**
 * Says what of a provider sells credits for the licenses of a product: all of it.
 * @throws Refusal `integration_not_connected`, `mapping_taken` for an id that stands for something else
 */
export async function mapCreditPacks(
  ports: Ports<'execute' | 'now' | 'secrets'>,
  { tenantId, productId }: PresentProduct,
  provider: Provider,
  packs: CreditPacks,
  origin: Origin,
): Promise<Integration> {
  return changeIntegration(ports, tenantId, provider, origin, (at) => ({
    ...{ type: 'MapCreditPacks', productId, packs, at },
  }))
}

/**
 * Lets one of a provider's ids sell credits from now on, also in place of others.
 * @throws Refusal `integration_not_connected`, `mapping_taken` for an id that stands for something else
 */
export async function mapCreditPack(
  ports: Ports<'execute' | 'now' | 'secrets'>,
  { tenantId, productId }: PresentProduct,
  provider: Provider,
  { item, pack }: { item: string; pack: CreditPack },
  origin: Origin,
): Promise<Integration> {
  return changeIntegration(ports, tenantId, provider, origin, (at) => ({
    ...{ type: 'MapCreditPack', item, productId, pack, at },
  }))
}

/**
 * Lets one of a provider's ids stand for a key type from now on; its former mapping ends.
 * @param item a permalink, a variant, a price, a product or a payment link of the provider
 * @throws Refusal `mapping_key_type_not_found`, `integration_not_connected`
 */
export async function mapItem(
  ports: Ports<'execute' | 'now' | 'secrets'>,
  product: PresentProduct,
  provider: Provider,
  { item, keyTypeId }: { item: string; keyTypeId: string },
  origin: Origin,
): Promise<Integration> {
  if (!findKeyType(product, keyTypeId)) throw new Refusal('mapping_key_type_not_found')
  const { tenantId, productId } = product
  return changeIntegration(ports, tenantId, provider, origin, (at) => ({
    type: 'MapItem',
    item,
    productId,
    keyTypeId,
    at,
  }))
}

/** Ends the mapping of one of a provider's ids. @throws Refusal `integration_not_connected` */
export async function unmapItem(
  ports: Ports<'execute' | 'now' | 'secrets'>,
  tenantId: string,
  provider: Provider,
  item: string,
  origin: Origin,
): Promise<Integration> {
  return changeIntegration(ports, tenantId, provider, origin, (at) => ({ type: 'UnmapItem', item, at }))
}

/** The result of an operation that was carried out before, as far as it still applies. */
async function repeated(
  ports: Ports<'secrets'>,
  integration: KnownIntegration,
  operationId: string,
): Promise<Changed> {
  const { tenantId, provider, credentials } = integration
  const name = nameOf({ tenantId, provider, operationId }, 'pingToken')
  if (credentials.pingToken?.name !== name) return { integration }
  return { integration, pingToken: await ports.secrets.open(tenantId, name) }
}

async function keepCredentials(
  ports: Ports<'randomBytes' | 'secrets'>,
  change: Change,
  connection: Connection,
): Promise<{ credentials: Credentials; pingToken?: string }> {
  if (connection.provider === 'gumroad') {
    const { token, ...pingToken } = await keepPingToken(ports, change)
    return { credentials: { webhookSecret: null, apiKey: null, pingToken }, pingToken: token }
  }
  const { webhookSecret, apiKey } = connection
  return {
    credentials: {
      webhookSecret: await keepSecret(ports, change, 'webhookSecret', webhookSecret),
      apiKey: apiKey === undefined ? null : await keepSecret(ports, change, 'apiKey', apiKey),
      pingToken: null,
    },
  }
}

/** Seals a secret before the event that names it is appended. @returns its name */
export async function keepSecret(
  ports: Ports<'secrets'>,
  change: Change,
  field: Field,
  secret: string,
): Promise<string> {
  const name = nameOf(change, field)
  await ports.secrets.keep(change.tenantId, name, secret)
  return name
}

async function keepPingToken(
  ports: Ports<'randomBytes' | 'secrets'>,
  change: Change,
): Promise<{ name: string; hash: string; token: string }> {
  const name = nameOf(change, 'pingToken')
  const fresh = newSecret(ports.randomBytes)
  const token = await ports.secrets.keep(change.tenantId, name, fresh)
  return { name, hash: sha256(token), token }
}

/** Carries out a command that brings new secrets; a refusal destroys them. */
export async function changeWith(
  ports: Ports<'execute' | 'now' | 'secrets'>,
  { tenantId, provider }: Change,
  secretNames: readonly string[],
  origin: Origin,
  command: (at: string) => IntegrationCommand,
): Promise<KnownIntegration> {
  try {
    const integration = await changeIntegration(ports, tenantId, provider, origin, command)
    if (integration.status === 'absent') throw new Error('an integration that was changed is there')
    return integration
  } catch (error) {
    if (error instanceof Refusal) {
      for (const name of secretNames) await ports.secrets.destroy(tenantId, name)
    }
    throw error
  }
}

/** Also destroys secrets that the integration no longer uses, including those left by a run that crashed. */
export async function changeIntegration(
  ports: Ports<'execute' | 'now' | 'secrets'>,
  tenantId: string,
  provider: Provider,
  origin: Origin,
  command: (at: string) => IntegrationCommand,
): Promise<Integration> {
  const at = momentOf(ports)
  const key = integrationKey(tenantId, provider)
  const { state: integration } = await ports.execute(integrations, key, command(at), causeOf(origin, at))
  if (integration.status !== 'absent') {
    for (const name of integration.retired) await ports.secrets.destroy(tenantId, name)
  }
  return integration
}
