import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { bytesToSign, timeOf, tokenOf } from '../../src/signing/paseto.ts'

export const place = { tenantId: 'acme', productId: 'editor' }

const newKey = () => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const raw = Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url')
  return { privateKey, raw }
}

const signed = (claims: object, footer: object, assertion: string, key: KeyObject): string => {
  const [message, beside] = [JSON.stringify(claims), JSON.stringify(footer)]
  return tokenOf(message, beside, sign(null, bytesToSign(message, beside, assertion), key).toString('base64'))
}

/** A tenant and a relay, with keys of their own, that sign what the test says. */
export function createSigners({ tenantId, productId } = place) {
  const [tenant, relay] = [newKey(), newKey()]
  const kid = createHash('sha256').update(tenant.raw).digest('hex').slice(0, 16)
  const at = (kind: string) => `keyledger:${kind}:${tenantId}:${productId}`
  const certificate = (claims: object, { by = tenant.privateKey, footer = { kid } as object } = {}) =>
    signed({ relay_id: 'rel_1', pk: relay.raw.toString('base64url'), ...claims }, footer, at('relay1'), by)
  return {
    keys: { [kid]: tenant.raw.toString('base64') },
    certificate,
    /** A lease of the relay, under a certificate. */
    lease: (claims: object, under: string, by = relay.privateKey) =>
      signed(claims, { relay: under }, at('lease2'), by),
    /** A lease of the server itself. */
    ownLease: (claims: object) => signed(claims, { kid }, at('lease2'), tenant.privateKey),
    /** A refusal of the server. @param now Unix seconds */
    refusal(now: number, licenseKeyHash: string, instanceId: string, reason: string) {
      const said = [kid, tenantId, productId, licenseKeyHash, instanceId, now, reason]
      const signature = sign(null, Buffer.from(['refusal1', ...said].join('|')), tenant.privateKey)
      return {
        kid,
        licenseKeyHash,
        instanceId,
        issuedAt: now,
        reason,
        signature: signature.toString('base64'),
      }
    },
    relayKey: relay.privateKey,
    tenantKey: tenant.privateKey,
  }
}

/** What a certificate says of a license; a lease says the same and more. @param now Unix seconds */
export const certified = (now: number, keyHash: string, more: object = {}) => ({
  iat: timeOf(now),
  nbf: timeOf(now - 86_400),
  exp: timeOf(now + 30 * 86_400),
  serial: now,
  license_id: 'lic_1',
  license_key_hash: keyHash,
  seats: 5,
  status: 'active',
  entitlements: { pro: true, projects: 10 },
  license_expires_at: null,
  ...more,
})

/** A lease for an instance that ends with its seat. */
export const leased = (
  now: number,
  keyHash: string,
  { instanceId, seconds = 600, ...more }: { instanceId: string; seconds?: number } & Record<string, unknown>,
) => {
  const { seats: _, ...claims } = certified(now, keyHash)
  return { ...claims, exp: timeOf(now + seconds), instance_id: instanceId, ...more }
}
