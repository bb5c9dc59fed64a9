import type { PreparedKey, SigningKey } from '../domain/signing/events.ts'
import {
  type Signing,
  type SigningCommand,
  signerAt,
  signingKeys,
  spentKeys,
  wantsKey,
} from '../domain/signing/signing.ts'
import type { Ports } from '../ports.ts'
import { keyPairOf } from '../signing/signer.ts'
import { causeOf, momentOf, type Origin } from './origin.ts'

type SigningPorts = Ports<'execute' | 'now' | 'randomBytes' | 'secrets'>

/** The key that signs for a tenant now; the first one is created when it is first needed. */
export async function signingKeyOf(
  ports: SigningPorts,
  tenantId: string,
  origin: Origin,
): Promise<SigningKey> {
  const { keys } = await change(ports, tenantId, 'PublishFirstKey', origin)
  const key = signerAt(keys, momentOf(ports))
  if (!key) throw new Error(`${tenantId} has no signing key although one was published`)
  return key
}

/**
 * Publishes the key that the next rotation lets sign, for apps that ship with the public keys. It signs nothing until then; while
 * one is prepared, nothing changes.
 */
export async function prepareSigningKey(
  ports: SigningPorts,
  tenantId: string,
  origin: Origin,
): Promise<void> {
  await change(ports, tenantId, 'PrepareKey', origin)
}

/**
 * Lets the prepared key sign, or publishes another one; it signs once every cached keyset holds it. Seeds of keys that no
 * longer sign are destroyed.
 */
export async function rotateSigningKey(ports: SigningPorts, tenantId: string, origin: Origin): Promise<void> {
  const { keys } = await change(ports, tenantId, 'RotateKey', origin)
  const spent = spentKeys(keys, momentOf(ports))
  await Promise.all(spent.map(({ secretName }) => ports.secrets.destroy(tenantId, secretName)))
}

/** @returns all keys, including the published or prepared one */
async function change(
  ports: SigningPorts,
  tenantId: string,
  type: SigningCommand['type'],
  origin: Origin,
): Promise<Signing> {
  const at = momentOf(ports)
  const { state } = await ports.execute(
    signingKeys,
    tenantId,
    async (signing) => {
      const key = wantsKey(signing, type, at) ? await nextKey(ports, tenantId, signing) : null
      return { type, tenantId, key, at }
    },
    causeOf(origin, at),
  )
  return state
}

/**
 * The seed is sealed before the key is published. Its name holds the key's number, so that concurrent runs, and a run after a
 * crash, use the same seed.
 */
async function nextKey(
  ports: Ports<'randomBytes' | 'secrets'>,
  tenantId: string,
  { keys }: Signing,
): Promise<PreparedKey> {
  const secretName = `signing-key.${keys.length + 1}`
  const fresh = Buffer.from(ports.randomBytes(32)).toString('base64')
  const { kid, publicKey } = keyPairOf(await ports.secrets.keep(tenantId, secretName, fresh))
  return { kid, publicKey, secretName }
}
