import { sha256 } from '../credentials/sha256.ts'
import { displayOf, newToken } from '../credentials/token.ts'
import { Refusal } from '../domain/refusal.ts'
import { type ClientKeys, clientKeys, takesSdkKey } from '../domain/tenants/client-keys.ts'
import { loadFromLog } from '../ledger/load.ts'
import type { Ports } from '../ports.ts'
import { causeOf, momentOf, type Origin } from './origin.ts'

/**
 * The live SDK key, which is made now when the tenant has none yet.
 * @param operationId names this one wish, so that a second run of it after a crash makes no second key
 * @throws Refusal `tenant_not_found`, `sdk_key_lost` when the vault has it no more
 */
export function revealSdkKey(
  services: Ports<'execute' | 'ledger' | 'now' | 'randomBytes' | 'secrets'>,
  tenantId: string,
  operationId: string,
  origin: Origin,
): Promise<string> {
  return changeSdkKey(services, tenantId, 'IssueSdkKey', operationId, origin)
}

/**
 * Another SDK key; the former one is good no more once this has answered. A second run of the same operation shows
 * the key that the first one made, or the newer one that has taken its place since.
 * @throws Refusal `tenant_not_found`, `sdk_key_lost`
 */
export function rotateSdkKey(
  services: Ports<'execute' | 'ledger' | 'now' | 'randomBytes' | 'secrets'>,
  tenantId: string,
  operationId: string,
  origin: Origin,
): Promise<string> {
  return changeSdkKey(services, tenantId, 'RotateSdkKey', operationId, origin)
}

/**
 * A checkout key in the place of the former one, if there was one. It is in this answer and nowhere else.
 * @throws Refusal `tenant_not_found`
 */
export async function issueCheckoutKey(
  services: Ports<'execute' | 'now' | 'randomBytes'>,
  tenantId: string,
  origin: Origin,
): Promise<{ checkoutKey: string }> {
  const { token, tokenHash } = newToken('chk', services.randomBytes)
  const at = momentOf(services)
  const key = { keyHash: tokenHash, displayKey: displayOf(token) }
  const command = { type: 'IssueCheckoutKey', key, at } as const
  await services.execute(clientKeys, tenantId, command, causeOf(origin, at))
  return { checkoutKey: token }
}

const secretNameOf = (operationId: string): string => `sdk-key.${operationId}`

async function changeSdkKey(
  services: Ports<'execute' | 'ledger' | 'now' | 'randomBytes' | 'secrets'>,
  tenantId: string,
  type: 'IssueSdkKey' | 'RotateSdkKey',
  operationId: string,
  origin: Origin,
): Promise<string> {
  const at = momentOf(services)
  const { state: keys } = await services.execute(
    clientKeys,
    tenantId,
    async (before) => {
      const fresh = newToken('sdk', services.randomBytes).token
      // Kept before the event that refers to it is appended, and only where there is going to be one.
      const sdkKey = takesSdkKey(before, type, operationId)
        ? await services.secrets.keep(tenantId, secretNameOf(operationId), fresh)
        : fresh
      return { type, key: { operationId, keyHash: sha256(sdkKey), displayKey: displayOf(sdkKey) }, at }
    },
    causeOf(origin, at),
  )
  if (type === 'RotateSdkKey') await destroyFormer(services, tenantId, keys)
  return openSdkKey(services, tenantId, keys)
}

/** All of them, since a run that was killed may have left more than the last one. */
async function destroyFormer(services: Ports<'secrets'>, tenantId: string, keys: ClientKeys): Promise<void> {
  const former = keys.operationIds.filter((id) => id !== keys.sdkKey?.operationId)
  await Promise.all(former.map((id) => services.secrets.destroy(tenantId, secretNameOf(id))))
}

async function openSdkKey(
  services: Ports<'ledger' | 'secrets'>,
  tenantId: string,
  keys: ClientKeys,
): Promise<string> {
  const found = await open(keys)
  if (found !== undefined) return found
  // Rotated at this very moment, most likely: then there is a newer one.
  const { state: now } = await loadFromLog(services.ledger, tenantId, clientKeys)
  const newer = await open(now)
  if (newer === undefined) throw new Refusal('sdk_key_lost')
  return newer

  async function open({ sdkKey }: ClientKeys): Promise<string | undefined> {
    return sdkKey === null ? undefined : services.secrets.open(tenantId, secretNameOf(sdkKey.operationId))
  }
}
