import { presentPeriod } from '../../domain/meters/closing.ts'
import { standing, type UseAnswer } from '../../domain/meters/decide.ts'
import { hasEnded } from '../../domain/meters/meter.ts'
import { Refusal } from '../../domain/refusal.ts'
import type { Ports } from '../../ports.ts'
import type { Origin } from '../origin.ts'
import { from, isShared, type Keyed, meterIdOf, requestOf, streamOfHold, type UsableMeter } from './meters.ts'

/** How the present period stands, and the allowance; or why there is none. */
export type AllowanceAnswer = {
  standing: ReturnType<typeof standing>
  allowance: { allowanceId: string; endsAt: string } | { reason: 'meter_exhausted' | 'allowance_over' }
}

/**
 * Keeps an amount for a device to spend without a network. Repeating it gets the same allowance, while that is kept.
 * @throws Refusal `allowance_limit_reached`, `meter_key_reused` also for a key of another device; LedgerUnavailable
 */
export async function grantAllowance(
  { counting, newId }: Ports<'counting' | 'newId'>,
  { owner, allowance, licenseId }: UsableMeter,
  { key, amount, seconds, instanceId }: Keyed & { seconds: number; instanceId: string },
  origin: Origin,
): Promise<AllowanceAnswer> {
  const allowanceId = `${newId('alw')}.${meterIdOf({ owner })}`
  const endOf = (at: string) => new Date(Date.parse(at) + seconds * 1000).toISOString()
  const { line, meter, at } = await counting.count(
    requestOf(owner, 'allowance', { key, amount, licenseId }, origin, (at) => ({
      ...{
        type: 'GrantAllowance',
        allowanceId,
        key,
        instanceId,
        amount,
        endsAt: endOf(at),
        owner,
        allowance,
        licenseId,
        at,
      },
    })),
  )
  const period = line?.period ?? presentPeriod(meter, allowance, at)
  const stands = standing(meter, period, allowance, at)
  const { subjectId = null, endsAt = null } = line ?? {}
  if (subjectId === null || endsAt === null)
    return { standing: stands, allowance: { reason: 'meter_exhausted' } }
  const hold = meter.holds.get(subjectId)
  if (!hold || hasEnded(hold, at)) return { standing: stands, allowance: { reason: 'allowance_over' } }
  // Two devices that spend one allowance would spend it twice.
  if (hold.device?.instanceId !== instanceId) throw new Refusal('meter_key_reused')
  return { standing: stands, allowance: { allowanceId: subjectId, endsAt } }
}

/** The device that an allowance is of, as it names itself. */
type OfDevice = { tenantId: string; licenseId: string; instanceId: string; allowanceId: string }

/**
 * Counts a use that a device has made under an allowance, also when its license has ended meanwhile: the amount was kept for it.
 * @param metered undefined where the license has the meter no more
 * @throws Refusal `allowance_over`, `hold_not_found` for no such id; `meter_key_reused`; LedgerUnavailable
 */
export async function spendAllowance(
  { counting }: Ports<'counting'>,
  { tenantId, licenseId, instanceId, allowanceId }: OfDevice,
  { key, amount, usedAt }: Keyed & { usedAt: string | undefined },
  metered: UsableMeter | undefined,
  origin: Origin,
): Promise<UseAnswer | undefined> {
  const id = streamOfHold(allowanceId)
  // It may have become one of its customer, or of its license alone, since.
  const allowance = metered && meterIdOf(metered) === id ? metered.allowance : undefined
  const { line, meter, at } = await counting.count({
    id,
    tenantId,
    adds: { kind: 'use', key, amount, licenseId: isShared(id) ? licenseId : null },
    command: (at) => ({
      type: 'SpendAllowance',
      allowance,
      allowanceId,
      instanceId,
      key,
      amount,
      usedAt: usedAt ?? at,
      at,
    }),
    ...from(origin),
  })
  if (!line?.period || !allowance) return undefined
  return { allowed: true, ...standing(meter, line.period, allowance, at), late: line.late }
}

/**
 * Frees what a device has not spent of an allowance. Repeating it changes nothing.
 * @throws Refusal `allowance_over` for that of another device, `hold_not_found` for no such id; LedgerUnavailable
 */
export async function returnAllowance(
  { counting }: Ports<'counting'>,
  { tenantId, instanceId, allowanceId }: Omit<OfDevice, 'licenseId'>,
  origin: Origin,
): Promise<void> {
  await counting.count({
    id: streamOfHold(allowanceId),
    tenantId,
    adds: undefined,
    command: (at) => ({ type: 'ReturnAllowance', allowanceId, instanceId, at }),
    ...from(origin),
  })
}
