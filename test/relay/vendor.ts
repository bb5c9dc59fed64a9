import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import { z } from 'zod'
import { newLicenseKey } from '../../src/credentials/license-key.ts'
import { tokenIn } from '../../src/signing/armor.ts'
import { bytesToSign, timeOf, tokenOf, verifyToken } from '../../src/signing/paseto.ts'

export const tenantId = 'acme'
export const productId = 'editor'

const Head = z.object({ length: z.int(), hash: z.string() })
const Request = z.object({
  nonce: z.string(),
  counter: z.int(),
  license_key_hash: z.string(),
  name: z.string(),
  seats: z.int(),
  iat: z.string(),
  relay_id: z.string().optional(),
  heads: z.array(Head).min(1),
  minutes: z.array(z.tuple([z.int(), z.int(), z.int(), z.int()])),
})
export type RequestClaims = z.infer<typeof Request>

/** What a certificate says that a test wants otherwise. */
export type Terms = {
  seats?: number
  seatSeconds?: number
  scope?: 'device' | 'process' | 'user'
  /** Unix seconds. */
  now?: number
  /** How long it lasts. */
  seconds?: number
  claims?: object
}

export type Vendor = ReturnType<typeof createVendor>

/** A vendor that knows one license, and answers requests of relays as the server does: a stand-in with keys of its own. */
export function createVendor() {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const raw = Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url')
  const kid = createHash('sha256').update(raw).digest('hex').slice(0, 16)
  const { licenseKey, keyHash } = newLicenseKey('ACME', randomBytes)
  let known: z.infer<typeof Head> | undefined
  let serial = 0

  const read = (kind: 'RELAY REQUEST' | 'RELAY RELEASE', text: string) => {
    const name = kind === 'RELAY REQUEST' ? 'request' : 'release'
    const token = verifyToken(
      tokenIn(kind, text) ?? '',
      `keyledger:relay-${name}1:${tenantId}:${productId}`,
      (footer) => Buffer.from(z.object({ pk: z.string() }).parse(footer).pk, 'base64url'),
    )
    if (!token) throw new Error(`no ${kind}`)
    return { claims: token.message, pk: z.object({ pk: z.string() }).parse(token.footer).pk }
  }
  return {
    licenseKey,
    keyHash,
    keys: { [kid]: raw.toString('base64') },
    publicKey: raw,
    readRequest: (text: string): RequestClaims => Request.parse(read('RELAY REQUEST', text).claims),
    readRelease: (text: string) =>
      Request.pick({ heads: true, minutes: true, relay_id: true }).parse(read('RELAY RELEASE', text).claims),
    /** Answers a request. @throws Error for a relay that was copied */
    answer(text: string, terms: Terms = {}): string {
      const { pk } = read('RELAY REQUEST', text)
      const request = Request.parse(read('RELAY REQUEST', text).claims)
      const { heads } = request
      if (known && !heads.some((head) => head.length === known?.length && head.hash === known.hash))
        throw new Error('the relay was copied')
      known = heads.at(-1)
      serial += 1
      const now = terms.now ?? Math.floor(Date.now() / 1000)
      const claims = {
        iat: timeOf(now),
        nbf: timeOf(now - 86_400),
        exp: timeOf(now + (terms.seconds ?? 30 * 86_400)),
        serial,
        nonce: request.nonce,
        relay_id: request.relay_id ?? 'rel_06f5w3k8hx7vq2m4n9t1r0s5zc',
        pk,
        license_id: 'lic_06f5w3k8hx7vq2m4n9t1r0s5zc',
        license_key_hash: request.license_key_hash,
        seats: terms.seats ?? request.seats,
        seat_seconds: terms.seatSeconds ?? 600,
        scope: terms.scope ?? 'device',
        status: 'active',
        entitlements: { export: true, projects: 50 },
        license_expires_at: null,
        ...terms.claims,
      }
      const [message, footer] = [JSON.stringify(claims), JSON.stringify({ kid })]
      const signature = sign(
        null,
        bytesToSign(message, footer, `keyledger:relay1:${tenantId}:${productId}`),
        privateKey,
      )
      return JSON.stringify({
        certificate: tokenOf(message, footer, signature.toString('base64')),
        keys: { [kid]: raw.toString('base64') },
        settings: { free_tier_enabled: true, trial_duration_days: 14, kid, expires_at: now + 86_400 },
        product: { tenantId, productId, name: 'Editor' },
      })
    },
  }
}
