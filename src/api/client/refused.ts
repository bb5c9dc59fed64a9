import type { Telemetry } from '../../domain/telemetry.ts'
import type { Ports } from '../../ports.ts'
import type { CallName } from '../../usage/refusals.ts'
import type { RefusedReason } from '../../verdicts/answer.ts'
import type { Client } from './client.ts'

/** A call of an app: its license key, its device and what it reports about itself. */
export type AppCall = {
  client: Pick<Client, 'tenantId' | 'productId'>
  call: CallName
  key: string
  device: { id: string; name: string | null }
  telemetry: Telemetry
}

/** Records that a license refused an app's call. */
export function recordRefused(
  { refusals }: Ports<'refusals'>,
  { client: { tenantId, productId }, call, device, telemetry }: AppCall,
  licenseId: string,
  reason: RefusedReason,
): void {
  const { appVersion, sdkVersion, platform } = telemetry
  const refused = { tenantId, productId, call, interface: 'client' } as const
  refusals.record(refused, licenseId, reason, { ...device, appVersion, sdkVersion, platform })
}

/** Records that no license has the key of an app's call. */
export function recordUnknownKey(
  { refusals }: Ports<'refusals'>,
  { client: { tenantId, productId }, call, key }: AppCall,
): void {
  refusals.recordUnknownKey({ tenantId, productId, call, interface: 'client' }, key)
}
