import type { SigningKey } from '../domain/signing/events.ts'
import { type SigningKeys, signerAt, signingKeys, wantsKey } from '../domain/signing/signing.ts'
import type { Ports } from '../ports.ts'
import { keyPairOf } from '../signing/keys.ts'
import { causeOf, momentOf, type Origin } from './origin.ts'

/** The key that signs for a tenant now; the first one is created when it is first needed. */
export async function signingKeyOf(
  services: Ports<'execute' | 'now' | 'randomBytes' | 'secrets'>,
  tenantId: string,
  origin: Origin,
): Promise<SigningKey> {
  const keys = await publish(services, tenantId, 'PublishFirstKey', origin)
  const key = signerAt(keys, momentOf(services))
  if (!key) throw new Error(`${tenantId} has no signing key although one was published`)
  return key
}

/**
 * Publishes another key, which signs once every cached keyset without it has expired. Seeds of keys that no
 * longer sign are destroyed.
 */
export async function rotateSigningKey(
  services: Ports<'execute' | 'now' | 'randomBytes' | 'secrets'>,
  tenantId: string,
  origin: Origin,
): Promise<void> {
  const keys = await publish(services, tenantId, 'RotateKey', origin)
  const signing = signerAt(keys, momentOf(services))
  const former = keys.filter(({ signsFrom }) => signing && signsFrom < signing.signsFrom)
  await Promise.all(former.map(({ secretName }) => services.secrets.destroy(tenantId, secretName)))
}

/** @returns all keys, including the published one if it was needed */
async function publish(
  services: Ports<'execute' | 'now' | 'randomBytes' | 'secrets'>,
  tenantId: string,
  type: 'PublishFirstKey' | 'RotateKey',
  origin: Origin,
): Promise<SigningKeys> {
  const at = momentOf(services)
  const { state } = await services.execute(
    signingKeys,
    tenantId,
    async (keys) =>
      wantsKey(keys, type, at)
        ? { type, tenantId, key: await nextKey(services, tenantId, keys), at }
        : undefined,
    causeOf(origin, at),
  )
  return state
}

/**
 * The seed is sealed before the key is published. Its name holds the key's number, so that concurrent runs
 * use the same seed.
 */
async function nextKey(
  services: Ports<'randomBytes' | 'secrets'>,
  tenantId: string,
  keys: SigningKeys,
): Promise<Omit<SigningKey, 'signsFrom'>> {
  const secretName = `signing-key.${keys.length + 1}`
  const fresh = Buffer.from(services.randomBytes(32)).toString('base64')
  const { kid, publicKey } = keyPairOf(await services.secrets.keep(tenantId, secretName, fresh))
  return { kid, publicKey, secretName }
}
