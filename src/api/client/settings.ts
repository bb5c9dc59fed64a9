import type { FastifyBaseLogger } from 'fastify'
import type { Origin } from '../../commands/origin.ts'
import { signingKeyOf } from '../../commands/signing-keys.ts'
import type { Ports } from '../../ports.ts'
import type { Envelope } from '../../signing/settings.ts'
import type { ActiveKey } from '../../signing/signer.ts'
import type { Client } from './client.ts'

/** The settings of a product for apps. They are signed when a trial length is configured and the key can sign. */
export type Settings = Envelope | { free_tier_enabled: boolean }

/** The client, the origin of events, and the log for failures. */
export type SettingsRequest = { client: Client; origin: Origin; log: FastifyBaseLogger }

/**
 * The settings of the product that an app calls for, to be spread into the response. Without a trial length nothing
 * needs a signature. When signing fails, the settings are unsigned and omit the trial length, which an app would
 * have to ignore.
 */
export async function settingsOf(
  ports: Ports<'execute' | 'now' | 'randomBytes' | 'secrets' | 'signSettings'>,
  asking: SettingsRequest,
  now: string,
): Promise<Settings> {
  const { client, origin, log } = asking
  const { tenantId, productId, product } = client
  const { trialDurationDays, freeTierEnabled, clientSettingsSince: since } = product
  const unsigned = { free_tier_enabled: freeTierEnabled }
  if (trialDurationDays === undefined) return unsigned
  try {
    const key = await activeKeyFor(ports, asking)
    const facts = { tenantId, productId, trialDurationDays, freeTierEnabled, since }
    return await ports.signSettings(facts, key, now)
  } catch (err) {
    log.error(
      { err, tenant: tenantId, product: productId, request_id: origin.requestId },
      'config.signing_failed',
    )
    return unsigned
  }
}

/** The key that signs for the client's tenant; creates one when there is none. */
export const activeKeyFor = (
  ports: Ports<'execute' | 'now' | 'randomBytes' | 'secrets'>,
  { client: { tenantId, signing }, origin }: SettingsRequest,
): ActiveKey | Promise<ActiveKey> => signing ?? signingKeyOf(ports, tenantId, origin)
