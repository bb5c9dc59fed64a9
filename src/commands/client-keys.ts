import { sha256 } from '../credentials/sha256.ts'
import { displayOf, newToken } from '../credentials/token.ts'
import { Refusal } from '../domain/refusal.ts'
import { type ClientKeys, clientKeys, takesSdkKey } from '../domain/tenants/client-keys.ts'
import { loadFromLog } from '../ledger/execute.ts'
import type { Ports } from '../ports.ts'
import { causeOf, momentOf, type Origin } from './origin.ts'

/**
 * The valid SDK key; it is created if the tenant has none yet.
 * @param operationId names this operation, so that a repetition after a crash does not create a second key
 * @throws Refusal `tenant_not_found`, `sdk_key_lost` when the vault no longer holds it
 */
export function revealSdkKey(
  ports: Ports<'execute' | 'ledger' | 'now' | 'randomBytes' | 'secrets'>,
  tenantId: string,
  operationId: string,
  origin: Origin,
): Promise<string> {
  return changeSdkKey(ports, tenantId, 'IssueSdkKey', operationId, origin)
}

/**
 * Creates another SDK key; the former one is invalid once this returns. A repetition of the same operation
 * returns the key that the first run created, or the newer one that has replaced it.
 * @throws Refusal `tenant_not_found`, `sdk_key_lost`
 */
export function rotateSdkKey(
  ports: Ports<'execute' | 'ledger' | 'now' | 'randomBytes' | 'secrets'>,
  tenantId: string,
  operationId: string,
  origin: Origin,
): Promise<string> {
  return changeSdkKey(ports, tenantId, 'RotateSdkKey', operationId, origin)
}

/**
 * Creates a checkout key in place of the former one, if any. Only this answer holds it.
 * @throws Refusal `tenant_not_found`
 */
export async function issueCheckoutKey(
  ports: Ports<'execute' | 'now' | 'randomBytes'>,
  tenantId: string,
  origin: Origin,
): Promise<{ checkoutKey: string }> {
  const { token, tokenHash } = newToken('chk', ports.randomBytes)
  const at = momentOf(ports)
  const key = { keyHash: tokenHash, displayKey: displayOf(token) }
  const command = { type: 'IssueCheckoutKey', key, at } as const
  await ports.execute(clientKeys, tenantId, command, causeOf(origin, at))
  return { checkoutKey: token }
}

const secretNameOf = (operationId: string): string => `sdk-key.${operationId}`

async function changeSdkKey(
  ports: Ports<'execute' | 'ledger' | 'now' | 'randomBytes' | 'secrets'>,
  tenantId: string,
  type: 'IssueSdkKey' | 'RotateSdkKey',
  operationId: string,
  origin: Origin,
): Promise<string> {
  const at = momentOf(ports)
  const { state: keys } = await ports.execute(
    clientKeys,
    tenantId,
    async (before) => {
      const fresh = newToken('sdk', ports.randomBytes).token
      // The key is kept before the event that refers to it is appended, and only if the command will use it.
      const sdkKey = takesSdkKey(before, type, operationId)
        ? await ports.secrets.keep(tenantId, secretNameOf(operationId), fresh)
        : fresh
      return { type, key: { operationId, keyHash: sha256(sdkKey), displayKey: displayOf(sdkKey) }, at }
    },
    causeOf(origin, at),
  )
  if (type === 'RotateSdkKey') await destroyFormer(ports, tenantId, keys)
  return openSdkKey(ports, tenantId, keys)
}

/** Destroys all former keys, since a killed run may have left more than the last one. */
async function destroyFormer(ports: Ports<'secrets'>, tenantId: string, keys: ClientKeys): Promise<void> {
  const former = keys.operationIds.filter((id) => id !== keys.sdkKey?.operationId)
  await Promise.all(former.map((id) => ports.secrets.destroy(tenantId, secretNameOf(id))))
}

async function openSdkKey(
  ports: Ports<'ledger' | 'secrets'>,
  tenantId: string,
  keys: ClientKeys,
): Promise<string> {
  const found = await open(keys)
  if (found !== undefined) return found
  // It was most likely rotated just now: then there is a newer one.
  const { state: now } = await loadFromLog(ports.ledger, tenantId, clientKeys)
  const newer = await open(now)
  if (newer === undefined) throw new Refusal('sdk_key_lost')
  return newer

  async function open({ sdkKey }: ClientKeys): Promise<string | undefined> {
    return sdkKey === null ? undefined : ports.secrets.open(tenantId, secretNameOf(sdkKey.operationId))
  }
}
