import type { Decider } from '../decider.ts'
import { Refusal } from '../refusal.ts'
import type { TenantEvent } from './events.ts'

/** The one SDK key or checkout key of a tenant that is good now. */
type ClientKey = { keyHash: string; displayKey: string; issuedAt: string }

/** The SDK key can be shown again: it lies sealed in the vault, named by the operation that made it. */
type SdkKey = ClientKey & { operationId: string }

/**
 * The keys by which apps and checkouts of a tenant are known, folded from the tenant's own stream. They are kept
 * apart from the tenant itself, whose state everybody may see.
 */
export type ClientKeys = {
  /** Undefined before the tenant is there. */
  tenantId: string | undefined
  sdkKey: SdkKey | null
  checkoutKey: ClientKey | null
  /** Every operation that has changed a key, so that none runs a second time after a crash. */
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

/** Whether the command would put its key in place: otherwise it has no use for one. */
export function takesSdkKey(
  keys: ClientKeys,
  type: 'IssueSdkKey' | 'RotateSdkKey',
  operationId: string,
): boolean {
  return type === 'IssueSdkKey' ? keys.sdkKey === null : !keys.operationIds.includes(operationId)
}

/**
 * Issuing an SDK key to a tenant that has one, and an operation that was recorded already, change nothing. A checkout
 * key is shown once and kept by its hash alone, so whoever asks for it gets another one each time.
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
    case 'TenantSuspended':
    case 'TenantReinstated':
    case 'TenantClosed':
    case 'ApprovalRuleChanged':
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
