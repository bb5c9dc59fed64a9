import type { UseAnswer } from '../../domain/meters/decide.ts'
import { Refusal } from '../../domain/refusal.ts'
import type { Ports } from '../../ports.ts'
import type { Origin } from '../origin.ts'
import { returnAllowance, spendAllowance } from './allowances.ts'
import { consume, type Keyed, type UsableMeter } from './meters.ts'

/** The device that reports. */
export type Reporter = { tenantId: string; licenseId: string; instanceId: string }

/** A use that a device has journaled. */
export type ReportedUse = Keyed & {
  name: string
  /** Its meter; why nothing can be counted under it, where the license may not use it now. */
  meter: UsableMeter | { reason: string }
  usedAt: string | undefined
  /** The allowance that it was spent under. */
  allowanceId: string | undefined
}

/** What a reported use is answered; `reason` when it is not counted. How its period stands is left out where that is not known. */
export type ReportAnswer = { reason?: string; used: UseAnswer | undefined }

/**
 * Counts a use that a device reports: out of its allowance, or like any other where that is over. Repeating it counts nothing twice.
 * @throws LedgerUnavailable: it may be counted then, and can be reported again
 */
export async function reportUse(
  ports: Ports<'counting'>,
  reporter: Reporter,
  { name, meter, allowanceId, ...use }: ReportedUse,
  origin: Origin,
): Promise<ReportAnswer> {
  const metered = 'reason' in meter ? undefined : meter
  if (allowanceId?.endsWith(`.${name}`)) {
    const attempt = spendAllowance(ports, { ...reporter, allowanceId }, use, metered, origin)
    const spent = await refusalOr(attempt, ['allowance_over', 'hold_not_found', 'meter_key_reused'])
    if ('value' in spent) return { used: spent.value }
    if (spent.refused === 'meter_key_reused') return { reason: spent.refused, used: undefined }
  }
  if ('reason' in meter) return { reason: meter.reason, used: undefined }
  const counted = await refusalOr(consume(ports, meter, use, origin), ['meter_key_reused'])
  if ('refused' in counted) return { reason: counted.refused, used: undefined }
  const used = counted.value
  return used.allowed ? { used } : { reason: 'meter_exhausted', used }
}

/** Frees what is left of an allowance, if it is one of the device. @throws LedgerUnavailable */
export async function giveAllowanceBack(
  ports: Ports<'counting'>,
  reporter: Reporter,
  allowanceId: string,
  origin: Origin,
): Promise<void> {
  await refusalOr(returnAllowance(ports, { ...reporter, allowanceId }, origin), [
    'allowance_over',
    'hold_not_found',
  ])
}

async function refusalOr<T, Code extends Refusal['code']>(
  work: Promise<T>,
  codes: readonly Code[],
): Promise<{ value: T } | { refused: Code }> {
  try {
    return { value: await work }
  } catch (error) {
    const code = error instanceof Refusal ? codes.find((each) => each === error.code) : undefined
    if (code === undefined) throw error
    return { refused: code }
  }
}
