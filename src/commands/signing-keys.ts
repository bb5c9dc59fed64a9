import type { SigningKey } from '../domain/signing/events.ts'
import {
  decideSigning,
  evolveSigning,
  noSigningKeys,
  type SigningKeys,
  signerAt,
  wantsKey,
} from '../domain/signing/signing.ts'
import { loadFromLog } from '../ledger/load.ts'
import { signingStream } from '../ledger/streams.ts'
import { keyPairOf } from '../signing/keys.ts'
import { causeOf, momentOf, type Origin, type Services } from './services.ts'

/** The key that signs for a tenant now; its first is made when it is first needed. */
export async function signingKeyOf(
  services: Services,
  tenantId: string,
  origin: Origin,
): Promise<SigningKey> {
  const keys = await publish(services, tenantId, 'PublishFirstKey', origin)
  const key = signerAt(keys, momentOf(services))
  if (!key) throw new Error(`${tenantId} has no signing key although one was published`)
  return key
}

/**
 * Publishes another key, which signs once every keyset that was kept without it has ended. Seeds of keys that sign
 * no more are destroyed.
 */
export async function rotateSigningKey(services: Services, tenantId: string, origin: Origin): Promise<void> {
  const keys = await publish(services, tenantId, 'RotateKey', origin)
  const signing = signerAt(keys, momentOf(services))
  const former = keys.filter(({ signsFrom }) => signing && signsFrom < signing.signsFrom)
  await Promise.all(former.map(({ secretName }) => services.secrets.destroy(tenantId, secretName)))
}

/** @returns all keys, with the one that was published now if there was need for it */
async function publish(
  services: Services,
  tenantId: string,
  type: 'PublishFirstKey' | 'RotateKey',
  origin: Origin,
): Promise<SigningKeys> {
  const at = momentOf(services)
  const stream = signingStream(tenantId)
  type State = { keys: SigningKeys; key: Omit<SigningKey, 'signsFrom'> | undefined }
  const { state, events } = await services.handle<State, 'signing'>({
    stream,
    load: async () => {
      const { state: keys, revision } = await loadFromLog(
        services.ledger,
        stream,
        noSigningKeys,
        (folded, { category, event }) => (category === 'signing' ? evolveSigning(folded, event) : folded),
      )
      const key = wantsKey(keys, type, at) ? await nextKey(services, tenantId, keys) : undefined
      return { state: { keys, key }, revision }
    },
    decide: ({ keys, key }) => (key ? decideSigning(keys, { type, tenantId, key, at }) : []),
    cause: causeOf(origin, at),
  })
  return events.reduce(evolveSigning, state.keys)
}

/** Sealed before it is published. By its number, so that whoever is faster makes it for all who try at this moment. */
async function nextKey(
  services: Services,
  tenantId: string,
  keys: SigningKeys,
): Promise<Omit<SigningKey, 'signsFrom'>> {
  const secretName = `signing-key.${keys.length + 1}`
  const fresh = Buffer.from(services.randomBytes(32)).toString('base64')
  const { kid, publicKey } = keyPairOf(await services.secrets.keep(tenantId, secretName, fresh))
  return { kid, publicKey, secretName }
}
