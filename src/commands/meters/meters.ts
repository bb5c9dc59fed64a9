import {
  findMetering,
  findSharedMeters,
  type Metering,
  type SharedMeters,
} from '../../../projections/meters/licenses.ts'
import type { KnownLine } from '../../../projections/meters/lookup.ts'
import type { Amount } from '../../domain/meters/amount.ts'
import { presentPeriod } from '../../domain/meters/closing.ts'
import { type MeterCommand, standing, type UseAnswer } from '../../domain/meters/decide.ts'
import type { Allowance } from '../../domain/meters/free.ts'
import type { LineKind } from '../../domain/meters/lines.ts'
import { type MeterOwner, ownerIdOf } from '../../domain/meters/meter.ts'
import { Refusal } from '../../domain/refusal.ts'
import { meterKey } from '../../domain/streams.ts'
import { isSlug } from '../../domain/values.ts'
import type { Ports } from '../../ports.ts'
import { catchUpWithLog } from '../cross-stream/read-models.ts'
import { causeOf, type Origin } from '../origin.ts'
import type { MeterRequest } from './batch.ts'

/** A meter of a license or a customer, and what it allows. */
export type UsableMeter = {
  owner: MeterOwner
  allowance: Allowance
  /** Of a meter that licenses share: the one that uses it. */
  licenseId?: string
}

/**
 * What a license uses under a meter: what its customer shares among all licenses, which was agreed with that customer, before
 * what its key type has.
 * @returns undefined where neither has such a meter
 */
export function meterOfLicense(metering: Metering, meter: string): UsableMeter | undefined {
  const { shared, licenseId } = metering
  const ofAll = shared && sharedMeter(shared, meter)
  return ofAll ? { ...ofAll, licenseId } : ownMeter(metering, meter)
}

/** All meters that a license may use now: those that its customer shares before its own. */
export function metersOfLicense(metering: Metering): UsableMeter[] {
  const names = [...(metering.shared?.meters ?? []), ...metering.meters].map(({ meter }) => meter)
  return [...new Set(names)].flatMap((meter) => meterOfLicense(metering, meter) ?? [])
}

/** What of a license only it uses. @returns undefined where its key type has no such meter */
export function ownMeter(
  { meters, moments, tenantId, productId, licenseId }: Metering,
  meter: string,
): UsableMeter | undefined {
  const terms = meters.find((each) => each.meter === meter)
  if (!terms) return undefined
  return { owner: { tenantId, productId, licenseId, meter, unit: terms.unit }, allowance: { terms, moments } }
}

/** What the licenses of a customer share. @returns undefined where the customer has no such meter */
export function sharedMeter(
  { meters, tenantId, customerId }: SharedMeters,
  meter: string,
): UsableMeter | undefined {
  const found = meters.find((each) => each.meter === meter)
  if (!found) return undefined
  const { since, ...terms } = found
  const moments = { issuedAt: since, purchasedAt: since }
  return { owner: { tenantId, customerId, meter, unit: terms.unit }, allowance: { terms, moments } }
}

/** The id of the stream of a meter. */
export const meterIdOf = ({ owner }: Pick<UsableMeter, 'owner'>): string =>
  meterKey(ownerIdOf(owner), owner.meter)

/** Whether licenses share the meter of this stream. */
export const isShared = (id: string): boolean => id.startsWith('cus_')

/** An amount under a key that makes it count once, however often it is sent. */
export type Keyed = { key: string; amount: Amount }

/**
 * Counts a use of a license that may use its meter.
 * @param usedAt when it was used, for one that is reported late
 * @throws Refusal `meter_key_reused`; LedgerUnavailable
 */
export async function consume(
  { counting }: Ports<'counting'>,
  { owner, allowance, licenseId }: UsableMeter,
  { key, amount, usedAt }: Keyed & { usedAt: string | undefined },
  origin: Origin,
): Promise<UseAnswer> {
  const { answer, line, meter, at } = await counting.count(
    requestOf(owner, 'use', { key, amount, licenseId }, origin, (at) => ({
      ...{ type: 'Consume', uses: [{ key, amount, usedAt }], owner, allowance, licenseId, at },
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
  { owner, allowance, licenseId }: UsableMeter,
  { key, amount, seconds }: Keyed & { seconds: number },
  origin: Origin,
): Promise<HoldAnswer> {
  const holdId = `${newId('hld')}.${meterIdOf({ owner })}`
  const endOf = (at: string) => new Date(Date.parse(at) + seconds * 1000).toISOString()
  const { line, meter, at } = await counting.count(
    requestOf(owner, 'hold', { key, amount, licenseId }, origin, (at) => ({
      ...{ type: 'PlaceHold', holdId, key, amount, endsAt: endOf(at), owner, allowance, licenseId, at },
    })),
  )
  const period = line?.period ?? presentPeriod(meter, allowance, at)
  const { subjectId = null, endsAt = null } = line ?? {}
  const hold = subjectId !== null && endsAt !== null ? { holdId: subjectId, endsAt } : null
  return { ...standing(meter, period, allowance, at), hold }
}

/** The stream of the meter that a hold or an allowance is under; its id says it. @throws Refusal `hold_not_found` for no such id */
export function streamOfHold(holdId: string): string {
  const [id = '', ownerId = '', meter = '', ...more] = holdId.split('.')
  if (id === '' || !/^(?:lic|cus)_\w+$/.test(ownerId) || !isSlug(meter) || more.length > 0)
    throw new Refusal('hold_not_found')
  return meterKey(ownerId, meter)
}

/**
 * Counts what was used of a hold, and frees the rest. Repeating it with the same amount changes nothing.
 * @throws Refusal `hold_not_found` also for one that has ended, was released or is another tenant's, `hold_too_small`;
 *   LedgerUnavailable
 */
export async function commitHold(
  { counting, db }: Ports<'counting' | 'db'>,
  { tenantId, holdId, amount }: { tenantId: string; holdId: string; amount: Amount },
  origin: Origin,
): Promise<void> {
  const id = streamOfHold(holdId)
  const adds = { kind: 'commit', key: holdId, licenseId: null, amount } as const
  const allowance = await allowanceOf(db, tenantId, id)
  const command = (at: string): MeterCommand => ({ type: 'CommitHold', holdId, amount, allowance, at })
  await counting.count({ id, tenantId, adds, command, ...from(origin) })
}

/** What a meter allows now; undefined where the key type, or the customer, has no such meter any more. */
async function allowanceOf(
  db: Ports<'db'>['db'],
  tenantId: string,
  id: string,
): Promise<Allowance | undefined> {
  const [ownerId = '', meter = ''] = id.split('.')
  if (isShared(id)) {
    const shared = await findSharedMeters(db, tenantId, ownerId)
    return shared && sharedMeter(shared, meter)?.allowance
  }
  const metering = await findMetering(db, tenantId, ownerId)
  return metering && ownMeter(metering, meter)?.allowance
}

/**
 * Closes the periods of a meter in which nothing more can count. Repeating it changes nothing. It waits until reads show it.
 * @param id of the stream of the meter
 * @throws LedgerUnavailable
 */
export async function closePeriods(
  ports: Waiting & Ports<'db'>,
  { tenantId, id }: { tenantId: string; id: string },
  origin: Origin,
): Promise<void> {
  const allowance = await allowanceOf(ports.db, tenantId, id)
  const command = (at: string): MeterCommand => ({ type: 'ClosePeriods', allowance, at })
  await counted(ports, { id, tenantId, adds: undefined, command, ...from(origin) })
}

/** Frees what a hold keeps. Repeating it changes nothing. @throws Refusal `hold_not_found` under a meter that was never used; LedgerUnavailable */
export async function releaseHold(
  { counting }: Ports<'counting'>,
  { tenantId, holdId }: { tenantId: string; holdId: string },
  origin: Origin,
): Promise<void> {
  const command = (at: string): MeterCommand => ({ type: 'ReleaseHold', holdId, at })
  const id = streamOfHold(holdId)
  await counting.count({ id, tenantId, adds: undefined, command, ...from(origin) })
}

type Waiting = Ports<'counting' | 'ledger' | 'untilVisible'>

/** @param allowance undefined where there is no such meter any more */
type CreditedMeter = { owner: MeterOwner; allowance: Allowance | undefined }

/** A prepaid amount. `order`: the number of the purchase; null without one. */
type NewCredit = Keyed & { endsAt: string | null; order: string | null }

/** A credit as it was added. */
type Credited = { creditId: string; amount: string; endsAt: string | null }

/**
 * Adds a prepaid amount, which is spent after what is included. It waits until reads show it.
 * @returns the id of the credit, and its end
 * @throws Refusal `credit_ends_in_the_past`, `meter_key_reused`; LedgerUnavailable
 */
export async function addCredit(
  ports: Waiting & Ports<'newId'>,
  meter: CreditedMeter,
  credit: NewCredit,
  origin: Origin,
): Promise<Credited> {
  return creditedIn(await counted(ports, creditRequest(ports, meter, credit, origin)))
}

/** As {@link addCredit}, without waiting for the read models. */
export async function recordCredit(
  ports: Ports<'counting' | 'db' | 'newId'>,
  owner: MeterOwner,
  credit: NewCredit,
  origin: Origin,
): Promise<Credited> {
  const allowance = await allowanceOf(ports.db, owner.tenantId, meterIdOf({ owner }))
  const request = creditRequest(ports, { owner, allowance }, credit, origin)
  return creditedIn((await ports.counting.count(request)).line)
}

function creditRequest(
  ports: Ports<'newId'>,
  { owner, allowance }: CreditedMeter,
  { key, amount, endsAt, order }: NewCredit,
  origin: Origin,
): MeterRequest {
  const creditId = ports.newId('crd')
  return requestOf(owner, 'credit', { key, amount }, origin, (at) => ({
    ...{ type: 'AddCredit', creditId, key, amount, endsAt, order, owner, allowance, at },
  }))
}

function creditedIn(line: KnownLine | undefined): Credited {
  if (!line || line.subjectId === null || line.amount === null)
    throw new Error('a credit was neither added nor refused')
  return { creditId: line.subjectId, amount: line.amount, endsAt: line.endsAt }
}

/**
 * Gives back what was counted wrongly in the present period. It waits until reads show it.
 * @throws Refusal `correction_too_large`, `meter_key_reused`; LedgerUnavailable
 */
export async function correctUse(
  ports: Waiting,
  { owner, allowance }: UsableMeter,
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
  meter: CreditedMeter,
  withdrawal: Withdrawal,
  origin: Origin,
): Promise<void> {
  await counted(ports, withdrawalRequest(meter, withdrawal, origin))
}

/** @param key by which a repeated withdrawal finds what was left; absent where none is repeated */
type Withdrawal = { creditId: string; reason: string; key?: string }

/**
 * As {@link withdrawCredit}, without waiting for the read models. Repeating it with its key changes nothing.
 * @returns what was left of the credit; nothing of one that has ended
 * @throws LedgerUnavailable
 */
export async function recordWithdrawal(
  { counting, db }: Ports<'counting' | 'db'>,
  owner: MeterOwner,
  withdrawal: Withdrawal & { key: string },
  origin: Origin,
): Promise<string> {
  const allowance = await allowanceOf(db, owner.tenantId, meterIdOf({ owner }))
  try {
    const request = withdrawalRequest({ owner, allowance }, withdrawal, origin)
    return (await counting.count(request)).line?.amount ?? '0'
  } catch (error) {
    if (error instanceof Refusal && error.code === 'credit_not_found') return '0'
    throw error
  }
}

function withdrawalRequest(
  { owner, allowance }: CreditedMeter,
  withdrawal: Withdrawal,
  origin: Origin,
): MeterRequest {
  const { key } = withdrawal
  const adds =
    key === undefined ? undefined : ({ kind: 'withdrawal', key, licenseId: null, amount: null } as const)
  const command = (at: string): MeterCommand => ({ type: 'WithdrawCredit', ...withdrawal, allowance, at })
  return { id: meterIdOf({ owner }), tenantId: owner.tenantId, adds, command, ...from(origin) }
}

export const from = (origin: Origin): Pick<MeterRequest, 'actor' | 'cause'> => ({
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

export const requestOf = (
  owner: MeterOwner,
  kind: LineKind,
  { key, amount, licenseId }: Keyed & { licenseId?: string | undefined },
  origin: Origin,
  command: (at: string) => MeterCommand,
): MeterRequest => ({
  id: meterIdOf({ owner }),
  tenantId: owner.tenantId,
  adds: { kind, key, amount, licenseId: licenseId ?? null },
  command,
  ...from(origin),
})
