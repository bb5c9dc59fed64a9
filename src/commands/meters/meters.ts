import type { Metering } from '../../../projections/meters/licenses.ts'
import { type Amount, amountText } from '../../domain/meters/amount.ts'
import { type MeterCommand, standing, type UseAnswer } from '../../domain/meters/decide.ts'
import type { Allowance } from '../../domain/meters/free.ts'
import type { LineKind } from '../../domain/meters/lines.ts'
import type { MeterOwner } from '../../domain/meters/meter.ts'
import { periodAt } from '../../domain/meters/period.ts'
import { Refusal } from '../../domain/refusal.ts'
import { meterKey } from '../../domain/streams.ts'
import { isSlug } from '../../domain/values.ts'
import type { Ports } from '../../ports.ts'
import { catchUpWithLog } from '../cross-stream/read-models.ts'
import { causeOf, type Origin } from '../origin.ts'
import type { MeterRequest } from './batch.ts'

/** A meter of a license, and what it allows. */
export type MeterOfLicense = { owner: MeterOwner; allowance: Allowance }

/** @returns undefined where the key type of the license has no such meter */
export function meterOfLicense(
  { meters, moments, ...of }: Metering,
  meter: string,
): MeterOfLicense | undefined {
  const terms = meters.find((each) => each.meter === meter)
  return terms && { owner: { ...of, meter, unit: terms.unit }, allowance: { terms, moments } }
}

/** An amount under a key that makes it count once, however often it is sent. */
type Keyed = { key: string; amount: Amount }

/**
 * Counts a use of a license that may use its meter.
 * @param usedAt when it was used, for one that is reported late
 * @throws Refusal `meter_key_reused`; LedgerUnavailable
 */
export async function consume(
  { counting }: Ports<'counting'>,
  { owner, allowance }: MeterOfLicense,
  { key, amount, usedAt }: Keyed & { usedAt: string | undefined },
  origin: Origin,
): Promise<UseAnswer> {
  const { answer, line, meter, at } = await counting.count(
    requestOf(owner, 'use', { key, amount }, origin, (at) => ({
      ...{ type: 'Consume', uses: [{ key, amount, usedAt }], owner, allowance, at },
    })),
  )
  if (answer) return answer
  if (!line?.period) throw new Error('a use was neither counted nor refused')
  return { allowed: true, ...standing(meter, line.period, allowance, at), late: line.late }
}

/** How a period stands, and the hold; null when there was not enough for it. */
export type HoldAnswer = ReturnType<typeof standing> & { hold: { holdId: string; endsAt: string } | null }

/**
 * Keeps an amount free for one use.
 * @throws Refusal `meter_key_reused`; LedgerUnavailable
 */
export async function placeHold(
  { counting, newId }: Ports<'counting' | 'newId'>,
  { owner, allowance }: MeterOfLicense,
  { key, amount, seconds }: Keyed & { seconds: number },
  origin: Origin,
): Promise<HoldAnswer> {
  const holdId = `${newId('hld')}.${meterKey(owner.licenseId, owner.meter)}`
  const endOf = (at: string) => new Date(Date.parse(at) + seconds * 1000).toISOString()
  const { line, meter, at } = await counting.count(
    requestOf(owner, 'hold', { key, amount }, origin, (at) => ({
      ...{ type: 'PlaceHold', holdId, key, amount, endsAt: endOf(at), owner, allowance, at },
    })),
  )
  const period = line?.period ?? periodAt(allowance.terms.period, at, allowance.moments)
  const { subjectId = null, endsAt = null } = line ?? {}
  const hold = subjectId !== null && endsAt !== null ? { holdId: subjectId, endsAt } : null
  return { ...standing(meter, period, allowance, at), hold }
}

/** The stream of the meter that a hold is under; its id says it. @throws Refusal `hold_not_found` for no such id */
function streamIdOf(holdId: string): string {
  const [id = '', licenseId = '', meter = '', ...more] = holdId.split('.')
  if (id === '' || !/^lic_\w+$/.test(licenseId) || !isSlug(meter) || more.length > 0)
    throw new Refusal('hold_not_found')
  return meterKey(licenseId, meter)
}

/**
 * Counts what was used of a hold, and frees the rest. Repeating it with the same amount changes nothing.
 * @throws Refusal `hold_not_found` also for one that has ended, was released or is another tenant's, `hold_too_small`;
 *   LedgerUnavailable
 */
export async function commitHold(
  { counting }: Ports<'counting'>,
  { tenantId, holdId, amount }: { tenantId: string; holdId: string; amount: Amount },
  origin: Origin,
): Promise<void> {
  const id = streamIdOf(holdId)
  const adds = { kind: 'commit', key: holdId, amount } as const
  const command = (at: string): MeterCommand => ({ type: 'CommitHold', holdId, amount, at })
  await counting.count({ id, tenantId, adds, command, ...from(origin) })
}

/** Frees what a hold keeps. Repeating it changes nothing. @throws Refusal `hold_not_found` under a meter that was never used; LedgerUnavailable */
export async function releaseHold(
  { counting }: Ports<'counting'>,
  { tenantId, holdId }: { tenantId: string; holdId: string },
  origin: Origin,
): Promise<void> {
  const command = (at: string): MeterCommand => ({ type: 'ReleaseHold', holdId, at })
  const id = streamIdOf(holdId)
  await counting.count({ id, tenantId, adds: undefined, command, ...from(origin) })
}

type Waiting = Ports<'counting' | 'ledger' | 'untilVisible'>

/**
 * Adds a prepaid amount, which is spent after what is included. It waits until reads show it.
 * @param order the number of the purchase; null without one
 * @returns the id of the credit, and its end
 * @throws Refusal `credit_ends_in_the_past`, `meter_key_reused`; LedgerUnavailable
 */
export async function addCredit(
  ports: Waiting & Ports<'newId'>,
  { owner }: MeterOfLicense,
  { key, amount, endsAt, order }: Keyed & { endsAt: string | null; order: string | null },
  origin: Origin,
): Promise<{ creditId: string; amount: string; endsAt: string | null }> {
  const creditId = ports.newId('crd')
  const line = await counted(
    ports,
    requestOf(owner, 'credit', { key, amount }, origin, (at) => ({
      ...{ type: 'AddCredit', creditId, key, amount, endsAt, order, owner, at },
    })),
  )
  if (!line || line.subjectId === null) throw new Error('a credit was neither added nor refused')
  return { creditId: line.subjectId, amount: amountText(amount), endsAt: line.endsAt }
}

/**
 * Gives back what was counted wrongly in the present period. It waits until reads show it.
 * @throws Refusal `correction_too_large`, `meter_key_reused`; LedgerUnavailable
 */
export async function correctUse(
  ports: Waiting,
  { owner, allowance }: MeterOfLicense,
  { key, amount, reason }: Keyed & { reason: string },
  origin: Origin,
): Promise<void> {
  await counted(
    ports,
    requestOf(owner, 'correction', { key, amount }, origin, (at) => ({
      ...{ type: 'CorrectUse', key, amount, reason, owner, allowance, at },
    })),
  )
}

/**
 * Takes back what is left of a credit, such as of a purchase whose money went back. It waits until reads show it.
 * @throws Refusal `credit_not_found` also for one that is spent or has ended; LedgerUnavailable
 */
export async function withdrawCredit(
  ports: Waiting,
  { owner }: MeterOfLicense,
  { creditId, reason }: { creditId: string; reason: string },
  origin: Origin,
): Promise<void> {
  const { tenantId, licenseId, meter } = owner
  const command = (at: string): MeterCommand => ({ type: 'WithdrawCredit', creditId, reason, at })
  const id = meterKey(licenseId, meter)
  await counted(ports, { id, tenantId, adds: undefined, command, ...from(origin) })
}

const from = (origin: Origin): Pick<MeterRequest, 'actor' | 'cause'> => ({
  actor: origin.actor,
  cause(at) {
    const { source: _, ...cause } = causeOf(origin, at)
    return cause
  },
})

async function counted(ports: Waiting, request: MeterRequest) {
  const { position, line } = await ports.counting.count(request)
  await (position === undefined ? catchUpWithLog(ports) : ports.untilVisible(position))
  return line
}

const requestOf = (
  { tenantId, licenseId, meter }: MeterOwner,
  kind: LineKind,
  { key, amount }: Keyed,
  origin: Origin,
  command: (at: string) => MeterCommand,
): MeterRequest => ({
  id: meterKey(licenseId, meter),
  tenantId,
  adds: { kind, key, amount },
  command,
  ...from(origin),
})
