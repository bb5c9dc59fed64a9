import { z } from 'zod'
import { Moment, Slug } from '../values.ts'
import { CreditPacks } from './credit-packs.ts'
import { Mapping } from './mapping.ts'
import { Marketplace } from './provider.ts'

/** The name of a secret in the vault; an event never holds the secret itself. */
const SecretName = z.string().min(1).max(300)

/**
 * The token in the URL of a ping: its name in the vault, and its SHA-256, which a received token is compared
 * with.
 */
const PingToken = z.strictObject({ name: SecretName, hash: z.string().regex(/^[0-9a-f]{64}$/) })

/** The secrets of a marketplace: those that verify its notifications, and the key for its API. */
export const Credentials = z.strictObject({
  webhookSecret: SecretName.nullable(),
  apiKey: SecretName.nullable(),
  pingToken: PingToken.nullable(),
})
export type Credentials = z.infer<typeof Credentials>

/** The endpoint that keyledger created at the provider; absent where a person has set one up. */
const EndpointId = z.string().min(1).max(255).optional()

const AccountId = z.string().min(1).max(255)
const OperationId = z.string().min(1).max(100)

/** Everything an `integration-<tenant>.<provider>` stream may hold. A recorded shape is never edited: add a new type. */
export const IntegrationEvent = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('MarketplaceConnected'),
    data: z.strictObject({
      tenantId: Slug,
      provider: Marketplace,
      operationId: OperationId,
      credentials: Credentials,
      endpointId: EndpointId,
      at: Moment,
    }),
  }),
  z.object({
    type: z.literal('CardOnboardingStarted'),
    data: z.strictObject({ tenantId: Slug, accountId: AccountId, at: Moment }),
  }),
  z.object({
    type: z.literal('CardAccountConnected'),
    data: z.strictObject({ accountId: AccountId, at: Moment }),
  }),
  z.object({
    type: z.literal('CardKeyConnected'),
    data: z.strictObject({
      tenantId: Slug,
      operationId: OperationId,
      apiKey: SecretName,
      webhookSecret: SecretName,
      /** Whether the key is one of test mode, which moves no money. */
      test: z.boolean(),
      endpointId: EndpointId,
      at: Moment,
    }),
  }),
  z.object({
    type: z.literal('WebhookSecretRotated'),
    data: z.strictObject({ operationId: OperationId, webhookSecret: SecretName, at: Moment }),
  }),
  z.object({
    type: z.literal('PingTokenRotated'),
    data: z.strictObject({ operationId: OperationId, pingToken: PingToken, at: Moment }),
  }),
  z.object({
    type: z.literal('ProductMapped'),
    data: z.strictObject({ productId: Slug, mapping: Mapping, at: Moment }),
  }),
  /** Whether uses of licenses are reported to the provider from now on; nothing that was used before is. */
  z.object({
    type: z.literal('UseReportsSwitched'),
    data: z.strictObject({ on: z.boolean(), at: Moment }),
  }),
  /** What of the provider adds a prepaid amount to a meter instead of issuing a license: all of one product. */
  z.object({
    type: z.literal('CreditPacksMapped'),
    data: z.strictObject({ productId: Slug, packs: CreditPacks, at: Moment }),
  }),
  z.object({ type: z.literal('IntegrationDisconnected'), data: z.strictObject({ at: Moment }) }),
])
export type IntegrationEvent = z.infer<typeof IntegrationEvent>
