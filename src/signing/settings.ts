import { unixSeconds } from '../domain/licenses/expiry.ts'
import { settingsSeconds } from '../domain/signing/signing.ts'
import type { ActiveKey, Signer } from './signer.ts'

/** A product's settings as they are signed. */
type SettingsFacts = {
  tenantId: string
  productId: string
  trialDurationDays: number
  freeTierEnabled: boolean
  /** Since when the two above have been as they are. */
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

/** Settings are signed anew so often, when nothing about them changes: whoever asks gets 12 hours at least. */
export const renewalSeconds = settingsSeconds / 2

/**
 * When the settings that are served at a moment were signed. It follows from what is recorded and the clock alone, so
 * any process comes to the same at any time, before and after a restart: counted in renewals from when the settings
 * became what they are, or the key began to sign.
 */
function issuedAt(since: string, key: ActiveKey, now: string): number {
  const first = unixSeconds(since > key.signsFrom ? since : key.signsFrom)
  // A clock that is behind the one that recorded them takes them as just signed.
  const renewals = Math.max(0, Math.floor((unixSeconds(now) - first) / renewalSeconds))
  return first + renewals * renewalSeconds
}

export type SignSettings = (facts: SettingsFacts, key: ActiveKey, now: string) => Promise<Envelope>

/** Envelopes that are kept, so that one is signed once a process and not once a call. */
const maxKept = 10_000

/** Signs settings. Ed25519 is deterministic, so the same facts give the same bytes wherever they are signed. */
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
