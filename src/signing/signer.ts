import { createPrivateKey, createPublicKey, hash, type KeyObject } from 'node:crypto'
import type { SigningKey } from '../domain/signing/events.ts'
import type { Secrets } from '../vault/secrets.ts'
import { createBatches } from './batches.ts'
import type { Signable } from './worker.ts'

/** The key that signs now. */
export type ActiveKey = Pick<SigningKey, 'kid' | 'secretName' | 'signsFrom'>

/** The vault lacks the key or has a different one, so nothing can be signed for the tenant. */
export class SigningFailed extends Error {
  constructor(kid: string, reason: string, cause?: unknown) {
    super(`the signing key ${kid} cannot be used: ${reason}`, { cause })
    this.name = 'SigningFailed'
  }
}

export type Signer = {
  /** Checks that the key can be used, before work that needs a signature. @throws SigningFailed */
  prepare(tenantId: string, key: ActiveKey): Promise<void>
  /** @returns base64. @throws SigningFailed */
  sign(tenantId: string, key: ActiveKey, text: Signable): Promise<string>
  close(): Promise<void>
}

/** How many decrypted keys are cached; the key of a key id never changes. */
const maxKept = 10_000

const nameOf = (tenantId: string, { kid }: ActiveKey): string => `${tenantId}.${kid}`

/** Signs with the tenants' Ed25519 keys. */
export function createSigner(secrets: Pick<Secrets, 'open'>): Signer {
  /**
   * Decrypted keys are stored without a promise, because awaiting one would delay each signature by an
   * event-loop tick.
   */
  const kept = new Map<string, KeyObject | Promise<KeyObject>>()
  const batches = createBatches()

  async function open(tenantId: string, { kid, secretName }: ActiveKey): Promise<KeyObject> {
    const seed = await secrets.open(tenantId, secretName).catch((error: unknown) => {
      throw new SigningFailed(kid, 'the vault could not decrypt it', error)
    })
    if (seed === undefined) throw new SigningFailed(kid, 'the vault does not have it')
    const pair = keyPairOf(seed)
    if (pair.kid !== kid) throw new SigningFailed(kid, 'the vault has a different key')
    return pair.privateKey
  }

  function keyFor(name: string, tenantId: string, key: ActiveKey): KeyObject | Promise<KeyObject> {
    const known = kept.get(name)
    if (known) return known
    const opening = open(tenantId, key)
    kept.set(name, opening)
    opening.then(
      (opened) => kept.get(name) === opening && kept.set(name, opened),
      () => kept.delete(name),
    )
    for (const oldest of kept.keys()) {
      if (kept.size <= maxKept) break
      kept.delete(oldest)
    }
    return opening
  }

  return {
    async prepare(tenantId, key) {
      await keyFor(nameOf(tenantId, key), tenantId, key)
    },
    sign(tenantId, key, text) {
      const name = nameOf(tenantId, key)
      const opened = keyFor(name, tenantId, key)
      if (!(opened instanceof Promise)) return batches.sign(name, opened, text)
      return opened.then((privateKey) => batches.sign(name, privateKey, text))
    },
    close: () => batches.close(),
  }
}

/** The PKCS#8 prefix of a 32-byte Ed25519 seed. */
const pkcs8 = Buffer.from('302e020100300506032b657004220420', 'hex')

export type KeyPair = { privateKey: KeyObject; publicKey: string; kid: string }

/** The Ed25519 key pair of a seed. @param seed 32 bytes, base64 */
export function keyPairOf(seed: string): KeyPair {
  const der = Buffer.concat([pkcs8, Buffer.from(seed, 'base64')])
  const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  const raw = createPublicKey(privateKey).export({ format: 'der', type: 'spki' }).subarray(-32)
  return { privateKey, publicKey: raw.toString('base64'), kid: hash('sha256', raw, 'hex').slice(0, 16) }
}
