import { verifyText } from './ed25519.ts'
import { isField, isRecord, isSeconds, type Keyset, keyIn, type Place } from './keyset.ts'

/** What an app may go by. An absent trial length was never configured, which is not 0: trials are off. */
export type Settings = { freeTierEnabled: boolean; trialDurationDays?: number }

/**
 * Why a trial length is not to be gone by: an app keeps the one that it has verified before. `unknown_key` is worth
 * fetching the keyset once more, `over` the settings.
 */
export type SettingsRefusal = 'malformed' | 'unsigned' | 'unknown_key' | 'bad_signature' | 'over'

/** What stands in an envelope beside the settings, and only in one that is signed. */
const signedWith = ['kid', 'issued_at', 'expires_at', 'signature'] as const

/**
 * Checks the settings of an answer to validate, keyless or config.
 *
 * 1. A trial length must be signed, or it is refused; unsigned settings say no more than the free tier. An answer that
 *    still has a part of its signature, but no trial length, has lost it on the way and is refused.
 * 2. The signature is the one of the key that `kid` names in the keyset.
 * 3. `now` is at or before `expires_at`.
 * 4. Tenant and product are the expected ones: they are not taken from the answer.
 * 5. Without a trial length `settings` has none, and with 0 it has 0.
 *
 * Of an answer from which everything that is signed was taken, nobody can tell that a trial length is configured. An
 * app whose product has one says so with `enforce`; for a product without one, that refuses every answer.
 * @param answer the parsed JSON body, of which other fields are passed over
 * @param now Unix seconds
 * @param options `enforce` refuses what is not signed; off by default
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

const refused = (reason: SettingsRefusal): { ok: false; reason: SettingsRefusal } => ({ ok: false, reason })
