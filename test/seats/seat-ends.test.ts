/**
 * A floating seat lasts until its end, by the clock of the database. An end that was seen to have passed is never moved again,
 * and no seat runs out because no process could answer its device.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newId } from '../../src/credentials/id.ts'
import type { SeatEnds } from '../../src/seats/seat-ends.ts'
import { openTestLedger, type TestLedger } from '../harness/ledger.ts'

let ledger: TestLedger
let seatEnds: SeatEnds
beforeAll(async () => {
  ledger = await openTestLedger()
  seatEnds = ledger.ports.seatEnds
  await seatEnds.noteRunning()
})
afterAll(() => ledger.close())

const seatSeconds = 600

/** A license with active devices in the read model, whose seats have these fences. */
async function licenseWith(...fences: number[]) {
  const licenseId = newId('lic')
  for (const fence of fences) await seat(licenseId, `device-${fence}`, fence)
  return licenseId
}

async function seat(licenseId: string, deviceId: string, fence: number) {
  await ledger.db.query(
    `insert into devices (license_id, tenant_id, device_id, instance_id, name, status, activated_at, fence)
     values ($1, 'ten_1', $2, $3, $2, 'active', now(), $4)`,
    [licenseId, deviceId, newId('ins'), fence],
  )
}

const keep = (licenseId: string, fence: number, deviceId = `device-${fence}`) =>
  seatEnds.keep({ licenseId, deviceId, fence, seatSeconds, fileEndsAt: null })

/** Moves the ends of all seats of a license, as if that much time had gone by. */
const goBy = (licenseId: string, interval: string) =>
  ledger.db.query('update usage.seat_ends set ends_at = ends_at - $2::interval where license_id = $1', [
    licenseId,
    interval,
  ])

const lastNote = (interval: string) =>
  ledger.db.query('update usage.seats_kept set kept_at = clock_timestamp() - $1::interval', [interval])

const secondsLeft = async (licenseId: string) => {
  const { rows } = await ledger.db.query<{ left: number }>(
    `select extract(epoch from ends_at - clock_timestamp())::float as left from usage.seat_ends
     where license_id = $1 order by device_id`,
    [licenseId],
  )
  return rows.map(({ left }) => left)
}

test('each call moves the end of a seat', async () => {
  const licenseId = await licenseWith(1)
  const first = await keep(licenseId, 1)
  await goBy(licenseId, '10 seconds')
  const second = await keep(licenseId, 1)
  // Both may come within a millisecond, so that the end is where it was.
  expect(Date.parse(second ?? '')).toBeGreaterThanOrEqual(Date.parse(first ?? ''))
  expect(await seatEnds.passed(licenseId)).toStrictEqual([])
})

test('a seat whose end has passed is free for others, and a late call of its device does not keep it', async () => {
  const licenseId = await licenseWith(1, 2)
  await keep(licenseId, 1)
  await goBy(licenseId, '601 seconds')
  await keep(licenseId, 2)
  expect(await seatEnds.passed(licenseId)).toStrictEqual([{ deviceId: 'device-1', fence: 1 }])
  expect(await keep(licenseId, 1)).toBeUndefined()
  expect(await keep(licenseId, 2)).toBeDefined()
})

test('a late call does not keep a seat whose end nobody has seen pass', async () => {
  const licenseId = await licenseWith(1)
  await keep(licenseId, 1)
  await goBy(licenseId, '601 seconds')
  expect(await keep(licenseId, 1)).toBeUndefined()
})

test('a seat that ran out is named until it is recorded as free', async () => {
  const licenseId = await licenseWith(1)
  await keep(licenseId, 1)
  await goBy(licenseId, '601 seconds')
  const ranOut = [{ deviceId: 'device-1', fence: 1 }]
  expect(await seatEnds.passed(licenseId)).toStrictEqual(ranOut)
  expect(await seatEnds.passed(licenseId)).toStrictEqual(ranOut)
  await ledger.db.query(`update devices set status = 'deactivated' where license_id = $1`, [licenseId])
  expect(await seatEnds.passed(licenseId)).toStrictEqual([])
})

test('the next seat of a device has an end of its own, and a call about the one before keeps neither', async () => {
  const licenseId = await licenseWith(1)
  await keep(licenseId, 1)
  await goBy(licenseId, '601 seconds')
  await seatEnds.passed(licenseId)
  await ledger.db.query('update devices set fence = 2 where license_id = $1', [licenseId])
  expect(await keep(licenseId, 2, 'device-1')).toBeDefined()
  const [left] = await secondsLeft(licenseId)
  await goBy(licenseId, '100 seconds')
  expect(await keep(licenseId, 1)).toBeUndefined()
  expect((await secondsLeft(licenseId))[0]).toBeLessThan(left ?? 0)
})

test('a seat without an end gets a whole one when another device wants a seat', async () => {
  const licenseId = await licenseWith(1)
  await seatEnds.begin(licenseId, seatSeconds)
  expect(await seatEnds.passed(licenseId)).toStrictEqual([])
  const [left] = await secondsLeft(licenseId)
  expect(left).toBeGreaterThan(seatSeconds - 100)
})

test('calls of one moment, also about one seat, are each answered', async () => {
  const licenseId = await licenseWith(1, 2, 3)
  await keep(licenseId, 2)
  await keep(licenseId, 3)
  await ledger.db.query(
    `update usage.seat_ends set ends_at = clock_timestamp() - interval '1 second'
     where license_id = $1 and device_id = 'device-3'`,
    [licenseId],
  )
  const ends = await Promise.all([1, 1, 2, 2, 3].map((fence) => keep(licenseId, fence)))
  expect(ends.map((end) => end !== undefined)).toStrictEqual([true, true, true, true, false])
})

test('after a time in which no process ran, each seat that lasted until then lasts for a whole period', async () => {
  const licenseId = await licenseWith(1, 2)
  await keep(licenseId, 1)
  await goBy(licenseId, '700 seconds')
  await keep(licenseId, 2)
  // The first ran out 100 seconds ago, the second 10: the last process stopped between.
  await goBy(licenseId, '610 seconds')
  await ledger.db.query(
    `update usage.seat_ends set ends_at = clock_timestamp() - interval '100 seconds'
     where license_id = $1 and device_id = 'device-1'`,
    [licenseId],
  )
  await lastNote('50 seconds')
  expect(await seatEnds.passed(licenseId)).toStrictEqual([{ deviceId: 'device-1', fence: 1 }])
  expect((await secondsLeft(licenseId))[1]).toBeGreaterThan(seatSeconds - 100)
  expect(await keep(licenseId, 2)).toBeDefined()
})

test('the first call after such a time keeps its seat, before any process has noted that it runs', async () => {
  const licenseId = await licenseWith(1)
  await keep(licenseId, 1)
  await goBy(licenseId, '610 seconds')
  await lastNote('50 seconds')
  expect(await keep(licenseId, 1)).toBeDefined()
})

test('a note while processes run moves no end', async () => {
  const licenseId = await licenseWith(1)
  await keep(licenseId, 1)
  await goBy(licenseId, '601 seconds')
  await lastNote('10 seconds')
  await seatEnds.noteRunning()
  expect(await seatEnds.passed(licenseId)).toStrictEqual([{ deviceId: 'device-1', fence: 1 }])
})

/** A license file of a seat, which ends after this time. */
async function borrow(licenseId: string, interval: string): Promise<string> {
  const { rows } = await ledger.db.query<{ end: string }>(
    `update devices set file_ends_at = clock_timestamp() + $2::interval where license_id = $1
     returning to_char(file_ends_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as end`,
    [licenseId, interval],
  )
  return rows[0]?.end ?? ''
}
const keepBorrowed = (licenseId: string, fileEndsAt: string) =>
  seatEnds.keep({ licenseId, deviceId: 'device-1', fence: 1, seatSeconds, fileEndsAt })

test('a seat that is borrowed lasts until its file ends, also when the table was lost', async () => {
  const licenseId = await licenseWith(1)
  const end = await borrow(licenseId, '10 days')
  expect(await keepBorrowed(licenseId, end)).toBe(end)
  await ledger.db.query('delete from usage.seat_ends where license_id = $1', [licenseId])
  await seatEnds.begin(licenseId, seatSeconds)
  expect(await seatEnds.passed(licenseId)).toStrictEqual([])
  expect((await secondsLeft(licenseId))[0]).toBeGreaterThan(9 * 86_400)
})

test('a seat that is borrowed is never marked, and its device comes back to it', async () => {
  const licenseId = await licenseWith(1)
  await keep(licenseId, 1)
  await goBy(licenseId, '700 seconds')
  // Killed after the file was recorded, and before the end of the seat was set.
  const end = await borrow(licenseId, '1 day')
  expect(await seatEnds.passed(licenseId)).toStrictEqual([])
  expect(await keepBorrowed(licenseId, end)).toBe(end)
})

test('a seat that was found to have run out while it was being borrowed is its device’s', async () => {
  const licenseId = await licenseWith(1)
  await keep(licenseId, 1)
  await goBy(licenseId, '700 seconds')
  expect(await seatEnds.passed(licenseId)).toHaveLength(1)
  const end = await borrow(licenseId, '1 day')
  expect(await seatEnds.passed(licenseId)).toStrictEqual([])
  const both = await Promise.all([keep(licenseId, 1), keepBorrowed(licenseId, end)])
  expect(both).toStrictEqual([end, end])
  expect(await seatEnds.licensesWithPassed(1000, [])).not.toContainEqual(
    expect.objectContaining({ licenseId }),
  )
})

test('a borrowed seat runs out when its file has ended, or a period after its last call if that is later', async () => {
  const licenseId = await licenseWith(1)
  await keepBorrowed(licenseId, await borrow(licenseId, '1 day'))
  await borrow(licenseId, '-1 second')
  expect(await keep(licenseId, 1)).toBeDefined()
  expect(await seatEnds.passed(licenseId)).toStrictEqual([])
  await goBy(licenseId, '1 day')
  await seatEnds.noteRunning()
  expect(await seatEnds.passed(licenseId)).toStrictEqual([{ deviceId: 'device-1', fence: 1 }])
})

test('an outage does not shorten a borrowed seat', async () => {
  const licenseId = await licenseWith(1)
  await keepBorrowed(licenseId, await borrow(licenseId, '10 days'))
  await lastNote('50 seconds')
  await seatEnds.noteRunning()
  expect((await secondsLeft(licenseId))[0]).toBeGreaterThan(9 * 86_400)
})

test('licenses with seats that ran out are listed until that is recorded, and their ends are forgotten after a day', async () => {
  await seatEnds.noteRunning()
  const licenseId = await licenseWith(1)
  await keep(licenseId, 1)
  await goBy(licenseId, '2 days')
  const listed = async () => {
    const all = await seatEnds.licensesWithPassed(1000, [])
    return all.filter((each) => each.licenseId === licenseId)
  }
  expect(await listed()).toStrictEqual([{ licenseId, tenantId: 'ten_1' }])
  expect(await listed()).toHaveLength(1)
  expect(await keep(licenseId, 1)).toBeUndefined()
  await ledger.db.query(`update devices set status = 'deactivated' where license_id = $1`, [licenseId])
  expect(await listed()).toStrictEqual([])
  expect(await secondsLeft(licenseId)).toStrictEqual([])
})
