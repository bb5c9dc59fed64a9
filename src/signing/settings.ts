import { unixSeconds } from '../domain/licenses/expiry.ts'
import { settingsSeconds } from '../domain/signing/signing.ts'
import type { ActiveKey, Signer } from './signer.ts'

/** A product's settings to be signed. */
type SettingsFacts = {
  tenantId: string
  productId: string
  trialDurationDays: number
  freeTierEnabled: boolean
  /** Since when these settings apply, ISO 8601. */
  since: string
}

export type Envelope = {
  trial_duration_days: number
  free_tier_enabled: boolean
  kid: string
  issued_at: number
  expires_at: number
  signature: string
}

/** How often unchanged settings are signed again, in seconds: each answer is valid for at least 12 hours. */
export const renewalSeconds = settingsSeconds / 2

/**
 * The time at which currently served settings were signed, in Unix seconds. It depends only on recorded values
 * and the clock, so every process computes the same one: full renewal periods since the settings changed or the
 * key became active.
 */
function issuedAt(since: string, key: ActiveKey, now: string): number {
  const first = unixSeconds(since > key.signsFrom ? since : key.signsFrom)
  // If this clock is behind the one that recorded the settings, they count as just signed.
  const renewals = Math.max(0, Math.floor((unixSeconds(now) - first) / renewalSeconds))
  return first + renewals * renewalSeconds
}

export type SignSettings = (facts: SettingsFacts, key: ActiveKey, now: string) => Promise<Envelope>

/** How many signed envelopes are cached, so that each is signed once per process instead of once per call. */
const maxKept = 10_000

/** Signs settings. Ed25519 is deterministic, so every process makes the same bytes from the same facts. */
export function createSignSettings(signer: Signer): SignSettings {
  const kept = new Map<string, { text: string; envelope: Promise<Envelope> }>()

  return (facts, key, now) => {
    const { tenantId, productId, trialDurationDays, freeTierEnabled, since } = facts
    const issued = issuedAt(since, key, now)
    const expires = issued + settingsSeconds
    const text = `cfg1|${key.kid}|${tenantId}|${productId}|${issued}|${expires}|${trialDurationDays}|${freeTierEnabled}`
    const name = `${tenantId}.${productId}`
    const known = kept.get(name)
    if (known?.text === text) return known.envelope
    const envelope = signer.sign(tenantId, key, text).then((signature) => ({
      trial_duration_days: trialDurationDays,
      free_tier_enabled: freeTierEnabled,
      kid: key.kid,
      issued_at: issued,
      expires_at: expires,
      signature,
    }))
    kept.delete(name)
    kept.set(name, { text, envelope })
    envelope.catch(() => {
      if (kept.get(name)?.text === text) kept.delete(name)
    })
    for (const oldest of kept.keys()) {
      if (kept.size <= maxKept) break
      kept.delete(oldest)
    }
    return envelope
  }
}
