/** The display form of a secret identifies it without revealing it: its kind and its last four characters. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { displayOf, newToken } from '../../src/credentials/token.ts'
import { displayOfWebhookSecret, newWebhookSecret } from '../../src/credentials/webhook-secret.ts'
import { cycling, sources } from './bytes.ts'

test.each(['pat', 'sdk', 'chk'] as const)('a token of the kind %s is masked', (kind) => {
  const { token } = newToken(kind, cycling([...Array(32).keys()]))
  expect(displayOf(token)).toBe(`kl_${kind}_…${token.slice(-4)}`)
})

test('a webhook secret is whsec_ and its bytes in base64, and masked without the padding', () => {
  const secret = newWebhookSecret(cycling([...Array(32).keys()]))
  expect(secret).toBe('whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=')
  expect(displayOfWebhookSecret(secret)).toBe('whsec_…dHh8')
})

test('a webhook secret has 32 bytes, and its mask shows four characters, for any bytes', () =>
  fc.assert(
    fc.property(sources, (source) => {
      const secret = newWebhookSecret(source)
      expect(Buffer.from(secret.slice('whsec_'.length), 'base64')).toHaveLength(32)
      expect(displayOfWebhookSecret(secret)).toMatch(/^whsec_…[A-Za-z0-9+/]{4}$/)
      expect(secret).toContain(displayOfWebhookSecret(secret).slice(-4))
    }),
  ))
