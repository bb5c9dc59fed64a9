import type { Decider } from '../decider.ts'
import { Refusal } from '../refusal.ts'
import type { TenantEvent } from './events.ts'

/** The valid SDK key or checkout key of a tenant. */
type ClientKey = { keyHash: string; displayKey: string; issuedAt: string }

/**
 * The SDK key can be shown again: it is sealed in the vault, under the id of the operation that created it.
 */
type SdkKey = ClientKey & { operationId: string }

/**
 * The keys that identify a tenant's apps and checkouts, from the tenant's own stream. They are separate from
 * the tenant's state, which more code may see.
 */
export type ClientKeys = {
  /** Undefined before the tenant exists. */
  tenantId: string | undefined
  sdkKey: SdkKey | null
  checkoutKey: ClientKey | null
  /** Every operation that changed a key, so that none is repeated after a crash. */
  operationIds: readonly string[]
}

export type ClientKeysCommand =
  | { type: 'IssueSdkKey' | 'RotateSdkKey'; key: Omit<SdkKey, 'issuedAt'>; at: string }
  | { type: 'IssueCheckoutKey'; key: Omit<ClientKey, 'issuedAt'>; at: string }

export const noClientKeys: ClientKeys = {
  tenantId: undefined,
  sdkKey: null,
  checkoutKey: null,
  operationIds: [],
}

/** Whether the command would use its key; otherwise no key needs to be generated. */
export function takesSdkKey(
  keys: ClientKeys,
  type: 'IssueSdkKey' | 'RotateSdkKey',
  operationId: string,
): boolean {
  return type === 'IssueSdkKey' ? keys.sdkKey === null : !keys.operationIds.includes(operationId)
}

/**
 * Issuing an SDK key to a tenant that has one, and repeating an operation, change nothing. A checkout key is
 * shown once and stored only as a hash, so each request creates another one.
 * @throws Refusal `tenant_not_found`
 */
export function decideClientKeys(keys: ClientKeys, command: ClientKeysCommand): TenantEvent[] {
  if (keys.tenantId === undefined) throw new Refusal('tenant_not_found')
  const { at } = command
  if (command.type === 'IssueCheckoutKey') {
    const type = keys.checkoutKey === null ? 'CheckoutKeyIssued' : 'CheckoutKeyRotated'
    return [{ type, data: { ...command.key, at } }]
  }
  if (!takesSdkKey(keys, command.type, command.key.operationId)) return []
  const type = keys.sdkKey === null ? 'SdkKeyIssued' : 'SdkKeyRotated'
  return [{ type, data: { ...command.key, at } }]
}

/** Never refuses: what is recorded has happened. */
export function evolveClientKeys(keys: ClientKeys, event: TenantEvent): ClientKeys {
  switch (event.type) {
    case 'TenantCreated':
      return { ...noClientKeys, tenantId: event.data.tenantId }
    case 'SdkKeyIssued':
    case 'SdkKeyRotated': {
      const { at, ...key } = event.data
      const operationIds = [...keys.operationIds, key.operationId]
      return { ...keys, sdkKey: { ...key, issuedAt: at }, operationIds }
    }
    case 'CheckoutKeyIssued':
    case 'CheckoutKeyRotated': {
      const { at, ...key } = event.data
      return { ...keys, checkoutKey: { ...key, issuedAt: at } }
    }
    case 'TenantRenamed':
    case 'TenantSuspended':
    case 'TenantReinstated':
    case 'TenantClosed':
    case 'ApprovalRuleChanged':
    case 'ConfirmationLifetimeChanged':
    case 'OnboardingDismissed':
    case 'SellingElsewhereChosen':
    case 'CustomersByAddressChanged':
    case 'SignInRuleChanged':
      return keys
  }
}

/** The rules of the client keys in tenant streams. */
export const clientKeys: Decider<ClientKeys, ClientKeysCommand, 'tenant'> = {
  category: 'tenant',
  initial: noClientKeys,
  decide: decideClientKeys,
  evolve: evolveClientKeys,
}
