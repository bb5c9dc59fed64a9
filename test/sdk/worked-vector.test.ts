/** The vector in the documentation is right, by both implementations, so that a third can be held to it. */
import { sign } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { licenseKeyHash, verifyLease, verifySettings } from '../../src/sdk/javascript/index.ts'
import { keyPairOf } from '../../src/signing/signer.ts'

const page = readFileSync(new URL('../../docs/reference/client.md', import.meta.url), 'utf8')
const vector = z
  .object({
    keyset: z.object({ keys: z.record(z.string(), z.string()) }),
    tenantId: z.string(),
    productId: z.string(),
    licenseKey: z.string(),
    now: z.int(),
    settings: z.looseObject({ signature: z.string() }),
    settingsText: z.string(),
    lease: z.looseObject({ signature: z.string(), instanceId: z.string() }),
    leaseText: z.string(),
  })
  .parse(JSON.parse(/```json\n([\s\S]*?)```/.exec(page)?.[1] ?? ''))

test('the worked vector of the documentation verifies', () => {
  const { keyset, settings, lease, licenseKey, now, ...place } = vector
  expect(verifySettings(settings, place, keyset, now)).toMatchObject({ ok: true })
  const holder = { licenseKeyHash: licenseKeyHash(licenseKey), instanceId: lease.instanceId }
  expect(verifyLease(lease, { ...place, ...holder }, keyset, now)).toStrictEqual({ ok: true, lease })
})

test('and is what is signed with the first test key of RFC 8032', () => {
  const seed = Buffer.from('9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60', 'hex')
  const { privateKey, kid, publicKey } = keyPairOf(seed.toString('base64'))
  expect(vector.keyset).toStrictEqual({ keys: { [kid]: publicKey } })
  const signed = (text: string) => sign(null, Buffer.from(text), privateKey).toString('base64')
  expect(signed(vector.settingsText)).toBe(vector.settings.signature)
  expect(signed(vector.leaseText)).toBe(vector.lease.signature)
})
