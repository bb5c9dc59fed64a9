import type { Decider } from '../decider.ts'
import { Refusal } from '../refusal.ts'
import {
  type CreditPack,
  type CreditPacks,
  hasPacks,
  lessPack,
  type ProductPacks,
  packIds,
  packSoldAs,
  withPacks,
} from './credit-packs.ts'
import type { Credentials, IntegrationEvent } from './events.ts'
import {
  isMappedSo,
  isTaken,
  keyTypeSoldAs,
  lessItem,
  type Mapping,
  type ProductMapping,
  soldIds,
  withItem,
  withMapping,
} from './mapping.ts'
import type { Marketplace, Provider } from './provider.ts'

/** A tenant's connection to one payment provider. */
export type Integration =
  | { status: 'absent' }
  | {
      status: 'disconnected' | 'onboarding' | 'connected'
      tenantId: string
      provider: Provider
      connectedAt: string | null
      /**
       * The card provider's account. It is kept at a disconnection, so that connecting again uses the same
       * one.
       */
      accountId: string | null
      /**
       * Set while the card provider is connected with a key of the tenant's own account, instead of an account
       * that the platform has access to.
       */
      ownAccount: { test: boolean } | null
      credentials: Credentials
      /** The provider's id of the endpoint that keyledger created there; absent where a person has set one up. */
      endpointId?: string
      /** Names of secrets that are no longer used, for the vault to destroy. */
      retired: readonly string[]
      /** They outlive a disconnection, so that connecting again does not lose them. */
      mappings: readonly ProductMapping[]
      /** From when on uses of licenses are reported to the card provider; absent while they are not. */
      usesReportedSince?: string
      /** What sells credits, by product; absent in states from before it could. */
      packs?: readonly ProductPacks[]
      /** Operations that have been carried out, so that none is carried out twice. */
      operationIds: readonly string[]
    }

export type KnownIntegration = Exclude<Integration, { status: 'absent' }>

export type IntegrationCommand =
  | {
      type: 'ConnectMarketplace'
      tenantId: string
      provider: Marketplace
      operationId: string
      credentials: Credentials
      endpointId?: string | undefined
      at: string
    }
  | { type: 'StartOnboarding'; tenantId: string; accountId: string; at: string }
  | { type: 'FinishOnboarding'; accountId: string; at: string }
  | {
      type: 'ConnectCardKey'
      tenantId: string
      operationId: string
      apiKey: string
      webhookSecret: string
      test: boolean
      endpointId?: string | undefined
      at: string
    }
  | { type: 'RotateWebhookSecret'; operationId: string; webhookSecret: string; at: string }
  | {
      type: 'RotatePingToken'
      operationId: string
      pingToken: NonNullable<Credentials['pingToken']>
      at: string
    }
  | { type: 'MapProduct'; productId: string; mapping: Mapping; at: string }
  /** One of the provider's ids stands for this key type from now on, whatever it stood for. */
  | { type: 'MapItem'; item: string; productId: string; keyTypeId: string; at: string }
  | { type: 'MapCreditPacks'; productId: string; packs: CreditPacks; at: string }
  /** One of the provider's ids sells these credits from now on. */
  | { type: 'MapCreditPack'; item: string; productId: string; pack: CreditPack; at: string }
  | { type: 'UnmapItem'; item: string; at: string }
  | { type: 'SwitchUseReports'; on: boolean; at: string }
  | { type: 'Disconnect'; at: string }

export const absentIntegration: Integration = { status: 'absent' }

const noCredentials: Credentials = { webhookSecret: null, apiKey: null, pingToken: null }

/**
 * Returning no events means that the request was already true, or that the operation has been carried out
 * before.
 * @throws Refusal `integration_connected`, `integration_not_connected`, `mapping_taken`
 */
export function decideIntegration(integration: Integration, command: IntegrationCommand): IntegrationEvent[] {
  switch (command.type) {
    case 'ConnectMarketplace': {
      const { type: _, endpointId, ...data } = command
      if (isDone(integration, command.operationId)) return []
      if (integration.status === 'connected') throw new Refusal('integration_connected')
      return [{ type: 'MarketplaceConnected', data: { ...data, ...madeThere(endpointId) } }]
    }
    case 'StartOnboarding': {
      const { tenantId, accountId, at } = command
      if (integration.status === 'connected') throw new Refusal('integration_connected')
      const isOnboarding = integration.status === 'onboarding' && integration.accountId === accountId
      return isOnboarding ? [] : [{ type: 'CardOnboardingStarted', data: { tenantId, accountId, at } }]
    }
    case 'ConnectCardKey': {
      const { type: _, endpointId, ...data } = command
      if (isDone(integration, command.operationId)) return []
      if (integration.status === 'connected') throw new Refusal('integration_connected')
      return [{ type: 'CardKeyConnected', data: { ...data, ...madeThere(endpointId) } }]
    }
    case 'FinishOnboarding': {
      const { accountId, at } = command
      const isConnected = integration.status === 'connected' && integration.ownAccount === null
      if (isConnected) return []
      if (integration.status !== 'onboarding' || integration.accountId !== accountId) {
        throw new Refusal('integration_not_connected')
      }
      return [{ type: 'CardAccountConnected', data: { accountId, at } }]
    }
    case 'Disconnect':
      if (integration.status === 'absent' || integration.status === 'disconnected') return []
      return [{ type: 'IntegrationDisconnected', data: { at: command.at } }]
    default:
      return decideOnConnected(integration, command)
  }
}

function decideOnConnected(
  integration: Integration,
  command: Extract<
    IntegrationCommand,
    {
      type:
        | 'RotateWebhookSecret'
        | 'RotatePingToken'
        | 'MapProduct'
        | 'MapItem'
        | 'UnmapItem'
        | 'SwitchUseReports'
        | 'MapCreditPack'
        | 'MapCreditPacks'
    }
  >,
): IntegrationEvent[] {
  if ('operationId' in command && isDone(integration, command.operationId)) return []
  if (integration.status !== 'connected') throw new Refusal('integration_not_connected')
  switch (command.type) {
    case 'RotateWebhookSecret': {
      const { operationId, webhookSecret, at } = command
      return [{ type: 'WebhookSecretRotated', data: { operationId, webhookSecret, at } }]
    }
    case 'RotatePingToken': {
      const { operationId, pingToken, at } = command
      return [{ type: 'PingTokenRotated', data: { operationId, pingToken, at } }]
    }
    case 'MapProduct': {
      const { productId, mapping, at } = command
      const inPacks = soldIds(mapping).some((id) => packOf(integration, id) !== undefined)
      if (inPacks) throw new Refusal('mapping_taken')
      if (isTaken(integration.mappings, productId, mapping)) throw new Refusal('mapping_taken')
      if (isMappedSo(integration.mappings, productId, mapping)) return []
      return [{ type: 'ProductMapped', data: { productId, mapping, at } }]
    }
    case 'MapCreditPacks': {
      const { productId, packs, at } = command
      const ofOthers = integration.packs?.filter((other) => other.productId !== productId) ?? []
      const known = [
        ...integration.mappings.flatMap(({ mapping }) => soldIds(mapping)),
        ...ofOthers.flatMap((other) => packIds(other.packs)),
      ]
      if (packIds(packs).some((id) => known.includes(id))) throw new Refusal('mapping_taken')
      if (hasPacks(integration.packs ?? [], productId, packs)) return []
      return [{ type: 'CreditPacksMapped', data: { productId, packs, at } }]
    }
    case 'MapCreditPack': {
      const { item, productId, pack, at } = command
      const before = integration.packs?.find((entry) => entry.productId === productId)?.packs ?? {}
      const packs = { ...lessPack(before, item), [item]: pack }
      return decideOnConnected(integration, { type: 'MapCreditPacks', productId, packs, at })
    }
    case 'MapItem': {
      const { item, productId, keyTypeId, at } = command
      const { provider, mappings } = integration
      const before = mappings.find((entry) => entry.productId === productId)?.mapping
      const mapping = withItem(provider, before, item, keyTypeId)
      const elsewhere = mappings.filter((entry) => entry.productId !== productId)
      const others = [...unmapped(elsewhere, item, at), ...withoutPack(integration, item, at)]
      if (isMappedSo(mappings, productId, mapping)) return others
      return [...others, { type: 'ProductMapped', data: { productId, mapping, at } }]
    }
    case 'UnmapItem':
      return [
        ...unmapped(integration.mappings, command.item, command.at),
        ...withoutPack(integration, command.item, command.at),
      ]
    case 'SwitchUseReports': {
      const { on, at } = command
      const isOn = integration.usesReportedSince !== undefined
      return on === isOn ? [] : [{ type: 'UseReportsSwitched', data: { on, at } }]
    }
  }
}

/** Takes an id out of the mappings that hold it. */
const unmapped = (mappings: readonly ProductMapping[], item: string, at: string): IntegrationEvent[] =>
  mappings
    .filter(({ mapping }) => keyTypeSoldAs(mapping, item) !== undefined)
    .map(({ productId, mapping }) => ({
      type: 'ProductMapped',
      data: { productId, mapping: lessItem(mapping, item), at },
    }))

/** What of a provider's ids sells, if it is credits, and for which product. */
export function packOf({ packs = [] }: Pick<KnownIntegration, 'packs'>, id: string) {
  for (const { productId, packs: ofProduct } of packs) {
    const pack = packSoldAs(ofProduct, id)
    if (pack) return { productId, pack }
  }
  return undefined
}

/** Takes an id out of the packs that hold it. */
const withoutPack = ({ packs = [] }: KnownIntegration, item: string, at: string): IntegrationEvent[] =>
  packs
    .filter(({ packs: ofProduct }) => packSoldAs(ofProduct, item) !== undefined)
    .map(({ productId, packs: ofProduct }) => ({
      type: 'CreditPacksMapped',
      data: { productId, packs: lessPack(ofProduct, item), at },
    }))

function isDone(integration: Integration, operationId: string): boolean {
  return integration.status !== 'absent' && integration.operationIds.includes(operationId)
}

/** Never refuses: what is recorded has happened. */
export function evolveIntegration(integration: Integration, event: IntegrationEvent): Integration {
  switch (event.type) {
    case 'MarketplaceConnected': {
      const { tenantId, provider, operationId, credentials, endpointId, at } = event.data
      const before = withEndpoint(known(integration, tenantId, provider), endpointId)
      return done({ ...before, status: 'connected', connectedAt: at, credentials }, operationId)
    }
    case 'CardOnboardingStarted': {
      const { tenantId, accountId } = event.data
      return { ...known(integration, tenantId, 'stripe'), status: 'onboarding', accountId }
    }
    case 'CardKeyConnected': {
      const { tenantId, operationId, apiKey, webhookSecret, test, endpointId, at } = event.data
      const before = withEndpoint(known(integration, tenantId, 'stripe'), endpointId)
      const credentials = { webhookSecret, apiKey, pingToken: null }
      const now = {
        ...before,
        status: 'connected',
        connectedAt: at,
        ownAccount: { test },
        credentials,
      } as const
      return done(now, operationId)
    }
    default:
      return integration.status === 'absent' ? integration : evolveKnown(integration, event)
  }
}

function evolveKnown(
  integration: KnownIntegration,
  event: Exclude<
    IntegrationEvent,
    { type: 'MarketplaceConnected' | 'CardOnboardingStarted' | 'CardKeyConnected' }
  >,
): KnownIntegration {
  const { credentials, retired } = integration
  switch (event.type) {
    case 'CardAccountConnected': {
      const { accountId, at } = event.data
      return { ...integration, status: 'connected', connectedAt: at, accountId }
    }
    case 'WebhookSecretRotated': {
      const { operationId, webhookSecret } = event.data
      const replaced = secretNames({ ...noCredentials, webhookSecret: credentials.webhookSecret })
      const now = { ...integration, credentials: { ...credentials, webhookSecret } }
      return done({ ...now, retired: [...retired, ...replaced] }, operationId)
    }
    case 'PingTokenRotated': {
      const { operationId, pingToken } = event.data
      const replaced = secretNames({ ...noCredentials, pingToken: credentials.pingToken })
      const now = { ...integration, credentials: { ...credentials, pingToken } }
      return done({ ...now, retired: [...retired, ...replaced] }, operationId)
    }
    case 'ProductMapped': {
      const { productId, mapping } = event.data
      return { ...integration, mappings: withMapping(integration.mappings, productId, mapping) }
    }
    case 'UseReportsSwitched': {
      const { on, at } = event.data
      return withUseReports(integration, on ? at : undefined)
    }
    case 'CreditPacksMapped': {
      const { productId, packs } = event.data
      return { ...integration, packs: withPacks(integration.packs ?? [], productId, packs) }
    }
    case 'IntegrationDisconnected':
      return {
        ...withUseReports(withEndpoint(integration, undefined), undefined),
        status: 'disconnected',
        connectedAt: null,
        ownAccount: null,
        credentials: noCredentials,
        retired: [...retired, ...secretNames(credentials)],
      }
  }
}

function withEndpoint(
  { endpointId: _, ...integration }: KnownIntegration,
  endpointId: string | undefined,
): KnownIntegration {
  return { ...integration, ...madeThere(endpointId) }
}

function withUseReports(
  { usesReportedSince: _, ...integration }: KnownIntegration,
  since: string | undefined,
): KnownIntegration {
  return since === undefined ? integration : { ...integration, usesReportedSince: since }
}

const madeThere = (endpointId: string | undefined): { endpointId?: string } =>
  endpointId === undefined ? {} : { endpointId }

function known(integration: Integration, tenantId: string, provider: Provider): KnownIntegration {
  if (integration.status !== 'absent') return integration
  return {
    status: 'disconnected',
    tenantId,
    provider,
    connectedAt: null,
    accountId: null,
    ownAccount: null,
    credentials: noCredentials,
    retired: [],
    mappings: [],
    operationIds: [],
  }
}

function done(integration: KnownIntegration, operationId: string): KnownIntegration {
  return { ...integration, operationIds: [...integration.operationIds, operationId] }
}

/** The names of the secrets in the vault. */
export function secretNames({ webhookSecret, apiKey, pingToken }: Credentials): string[] {
  return [webhookSecret, apiKey, pingToken?.name].filter((name) => typeof name === 'string')
}

/** The rules of integration streams, one for each provider of a tenant. */
export const integrations: Decider<Integration, IntegrationCommand, 'integration'> = {
  category: 'integration',
  initial: absentIntegration,
  decide: decideIntegration,
  evolve: evolveIntegration,
}
