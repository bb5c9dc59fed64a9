import { verifyText } from './ed25519.ts'
import { isField, isRecord, isSeconds, type Keyset, keyIn, type Place } from './keyset.ts'
import { refused } from './statement.ts'

/** The verified settings. An absent trial length was never configured; 0 means that trials are off. */
export type Settings = { freeTierEnabled: boolean; trialDurationDays?: number }

/**
 * Why a trial length must not be used; the app keeps the one it verified before. After `unknown_key`, fetch the
 * keyset again; after `over`, the settings.
 */
export type SettingsRefusal = 'malformed' | 'unsigned' | 'unknown_key' | 'bad_signature' | 'over'

/** Fields that only signed settings have. */
const signedWith = ['kid', 'issued_at', 'expires_at', 'signature'] as const

/**
 * Verifies the settings in a response to validate, keyless or config.
 *
 * 1. A trial length must be signed, or it is refused; unsigned settings only carry the free tier. A response with a
 * part of its signature but without a trial length has lost the trial length on the way, and is refused.
 * 2. The signature must match the key that `kid` names in the keyset.
 * 3. `now` must not be after `expires_at`.
 * 4. Tenant and product are the expected ones, not those in the response.
 * 5. The result has a trial length only if the response has one; 0 stays 0.
 *
 * If all signed fields were removed from a response, it cannot be seen that a trial length is configured. An app
 * whose product has one therefore sets `enforce`; for a product without one, that refuses every response.
 * @param answer the parsed JSON body; other fields are ignored
 * @param now Unix seconds
 * @param options `enforce` refuses unsigned settings; off by default
 */
export function verifySettings(
  answer: unknown,
  { tenantId, productId }: Place,
  keyset: Keyset,
  now: number,
  { enforce = false }: { enforce?: boolean } = {},
): { ok: true; settings: Settings } | { ok: false; reason: SettingsRefusal } {
  if (!isRecord(answer) || typeof answer.free_tier_enabled !== 'boolean') return refused('malformed')
  const { free_tier_enabled: freeTierEnabled, trial_duration_days: days } = answer
  if (days === undefined) {
    if (signedWith.some((field) => answer[field] !== undefined)) return refused('malformed')
    return enforce ? refused('unsigned') : { ok: true, settings: { freeTierEnabled } }
  }
  const { kid, issued_at: issuedAt, expires_at: expiresAt, signature } = answer
  if (kid === undefined || signature === undefined) return refused('unsigned')
  if (!isField(kid) || typeof signature !== 'string') return refused('malformed')
  if (!isSeconds(days) || !isSeconds(issuedAt) || !isSeconds(expiresAt)) return refused('malformed')
  const publicKey = keyIn(keyset, kid)
  if (publicKey === undefined) return refused('unknown_key')
  const text = `cfg1|${kid}|${tenantId}|${productId}|${issuedAt}|${expiresAt}|${days}|${freeTierEnabled}`
  if (!verifyText(text, signature, publicKey)) return refused('bad_signature')
  if (now > expiresAt) return refused('over')
  return { ok: true, settings: { freeTierEnabled, trialDurationDays: days } }
}
