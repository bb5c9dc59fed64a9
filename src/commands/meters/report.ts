import type { UseAnswer } from '../../domain/meters/decide.ts'
import { Refusal } from '../../domain/refusal.ts'
import type { Ports } from '../../ports.ts'
import type { Origin } from '../origin.ts'
import { consume, type Keyed, type MeterOfLicense } from './meters.ts'

/** A use that a device has journaled, and its meter: why nothing can be counted under it, where the license may not use it now. */
export type ReportedUse = Keyed & { meter: MeterOfLicense | { reason: string }; usedAt: string | undefined }

/** What a reported use is answered; `reason` when it is not counted. */
export type ReportAnswer = { reason?: string; used: UseAnswer | undefined }

/**
 * Counts a use that a device reports. Repeating it counts nothing twice.
 * @throws LedgerUnavailable: it may be counted then, and can be reported again
 */
export async function reportUse(
  ports: Ports<'counting'>,
  { meter, ...use }: ReportedUse,
  origin: Origin,
): Promise<ReportAnswer> {
  if ('reason' in meter) return { reason: meter.reason, used: undefined }
  try {
    const used = await consume(ports, meter, use, origin)
    return used.allowed ? { used } : { reason: 'meter_exhausted', used }
  } catch (error) {
    if (error instanceof Refusal && error.code === 'meter_key_reused')
      return { reason: error.code, used: undefined }
    throw error
  }
}
