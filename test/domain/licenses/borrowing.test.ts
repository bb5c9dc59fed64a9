/**
 * A floating seat that is borrowed with a license file is its device's until the file ends, whatever any clock says of it. No more are
 * borrowed at once than the license allows, and only the device gives its seat back before.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { LicenseEvent } from '../../../src/domain/licenses/events.ts'
import type { RanOut } from '../../../src/domain/licenses/floating.ts'
import {
  absentLicense,
  decideLicense,
  evolveLicense,
  type IssuedLicense,
  type License,
  type LicenseCommand,
} from '../../../src/domain/licenses/license.ts'
import { liveFile } from '../../../src/domain/licenses/seat-files.ts'
import type { FloatingSeats } from '../../../src/domain/products/key-type.ts'
import { givenOn, outcomeOf } from '../given.ts'
import { minted, reminted } from './license-samples.ts'

const given = givenOn({ initial: absentLicense, decide: decideLicense, evolve: evolveLicense })

const day = 86_400_000
const begin = Date.parse('2026-03-01T12:00:00.000Z')
const on = (days: number) => new Date(begin + days * day).toISOString()

const lending: FloatingSeats = {
  seatSeconds: 600,
  overdraft: null,
  scope: 'device',
  maxBorrowDays: 30,
  maxBorrowed: 1,
}
const team = (deviceLimit: number, floating: FloatingSeats = lending) =>
  minted({ deviceLimit, expiresAt: null, floating })

const claimOf = (name: string) => ({
  instanceId: null,
  installId: null,
  name,
  identities: [{ subjectId: 'sub_1', machine: `hash-of-the-${name}`, components: {} }],
})
const seatOf = (name: string, at: string, ranOut: readonly RanOut[] = []) => ({
  instanceId: `ins_${name}`,
  platform: null,
  claim: claimOf(name),
  atLeast: null,
  ranOut,
  at,
})
const take = (name: string, at: string, ranOut?: readonly RanOut[]): LicenseCommand => ({
  type: 'ActivateInstance',
  ...seatOf(name, at, ranOut),
})
const borrow = (
  name: string,
  at: string,
  { days = 10, counter = Date.parse(at), ranOut = [] as readonly RanOut[] } = {},
): LicenseCommand => ({
  type: 'IssueFile',
  ...seatOf(name, at, ranOut),
  fileId: `fil_${name}_${counter}`,
  request: { deviceKey: `key-of-${name}`, nonce: `nonce-${name}-${counter}`, counter },
  seconds: days * 86_400,
  perSeatPerYear: Infinity,
})

/** A license after these commands, none of which is refused. */
function historyOf(first: LicenseEvent, ...commands: readonly LicenseCommand[]): LicenseEvent[] {
  const events = [first]
  let license = evolveLicense(absentLicense, first)
  for (const command of commands) {
    const next = decideLicense(license, command)
    events.push(...next)
    license = next.reduce<License>(evolveLicense, license)
  }
  return events
}
const serialIn = (events: readonly LicenseEvent[]) =>
  events.flatMap((event) => (event.type === 'LicenseFileIssued' ? [event.data.serial] : [])).at(-1) ?? 0
const release = (
  name: string,
  events: readonly LicenseEvent[],
  fence: number | null,
  at: string,
): LicenseCommand => ({
  type: 'ReleaseFile',
  instanceId: `ins_${name}`,
  deviceKey: `key-of-${name}`,
  serial: serialIn(events),
  fence,
  at,
})
const typesAfter = (events: readonly LicenseEvent[], command: LicenseCommand) => {
  const license = events.reduce<License>(evolveLicense, absentLicense)
  return decideLicense(license, command).map(({ type }) => type)
}

describe('a borrowed seat', () => {
  const lent = historyOf(team(1), borrow('laptop', on(0)))

  test('is taken with its file, which ends when it was asked to', () => {
    expect(lent.map(({ type }) => type)).toStrictEqual([
      'LicenseMinted',
      'DeviceActivated',
      'DeviceIdentified',
      'LicenseFileIssued',
    ])
    expect(lent.at(-1)).toMatchObject({ data: { endsAt: on(10) } })
  })

  test('ends with the license at the latest', () => {
    const brief = minted({ deviceLimit: 1, expiresAt: on(4), floating: lending })
    expect(historyOf(brief, borrow('laptop', on(0))).at(-1)).toMatchObject({ data: { endsAt: on(4) } })
  })

  test('does not run out before its file ends, whatever the table of ends says', () => {
    const ranOut = [{ deviceId: 'ins_laptop', fence: 1 }]
    given(...lent)
      .when(take('desktop', on(9), ranOut))
      .expectRefusal('seat_limit_reached')
    given(...lent)
      .when({ type: 'EndSeats', ranOut, at: on(9) })
      .expectEvents([])
  })

  test('is freed by the next taking once its file has ended', () => {
    expect(typesAfter(lent, take('desktop', on(11), [{ deviceId: 'ins_laptop', fence: 1 }]))).toStrictEqual([
      'DeviceDeactivated',
      'DeviceActivated',
      'DeviceIdentified',
    ])
  })

  test('is given back by its device alone, which names its fence', () => {
    given(...lent)
      .when({ type: 'DeactivateDevice', deviceId: 'ins_laptop', fence: 1, at: on(1) })
      .expectRefusal('seat_has_file')
    for (const fence of [null, 2])
      given(...lent)
        .when(release('laptop', lent, fence, on(1)))
        .expectRefusal('seat_lost')
    expect(typesAfter(lent, release('laptop', lent, 1, on(1)))).toStrictEqual([
      'LicenseFileReleased',
      'DeviceDeactivated',
    ])
  })

  test('that was given back is not given back twice', () => {
    const back = historyOf(team(1), borrow('laptop', on(0)), release('laptop', lent, 1, on(1)))
    given(...back)
      .when(release('laptop', lent, 1, on(2)))
      .expectEvents([])
  })

  test('stays taken when all seats are vacated', () => {
    given(...lent, reminted(false))
      .when(take('desktop', on(2), [{ deviceId: 'ins_laptop', fence: 1 }]))
      .expectRefusal('seat_limit_reached')
  })

  test('whose taking was cut off gets the same file for the same request, also when the table says that it ran out', () => {
    const ranOut = [{ deviceId: 'ins_laptop', fence: 1 }]
    given(...lent)
      .when(borrow('laptop', on(0), { ranOut }))
      .expectEvents([])
  })

  test('is taken anew by a device whose seat ran out: with a higher fence', () => {
    const gone = historyOf(team(1), take('laptop', on(0)))
    const ranOut = [{ deviceId: 'ins_laptop', fence: 1 }]
    const license = gone.reduce<License>(evolveLicense, absentLicense)
    expect(decideLicense(license, borrow('laptop', on(1), { ranOut }))).toMatchObject([
      { type: 'DeviceDeactivated', data: { ranOut: true } },
      { type: 'DeviceActivated', data: { fence: 2 } },
      { type: 'DeviceIdentified' },
      { type: 'LicenseFileIssued', data: { deviceId: 'ins_laptop' } },
    ])
  })
})

describe('how many are borrowed', () => {
  test('is limited, until one is given back or its file ends', () => {
    const lent = historyOf(team(2), borrow('laptop', on(0)))
    given(...lent)
      .when(borrow('desktop', on(1)))
      .expectRefusal('borrow_limit_reached')
    const back = historyOf(team(2), borrow('laptop', on(0)), release('laptop', lent, 1, on(1)))
    expect(typesAfter(back, borrow('desktop', on(2)))).toContain('LicenseFileIssued')
    expect(typesAfter(lent, borrow('desktop', on(10)))).toContain('LicenseFileIssued')
  })

  test('does not count the file that a new one of the same device replaces', () => {
    const lent = historyOf(team(2), borrow('laptop', on(0)), borrow('laptop', on(5)))
    expect(lent.at(-1)).toMatchObject({ type: 'LicenseFileIssued', data: { endsAt: on(15) } })
    given(...lent)
      .when(borrow('desktop', on(11)))
      .expectRefusal('borrow_limit_reached')
  })
})

test('no seat is borrowed where the license does not say so', () =>
  given(team(1, { seatSeconds: 600, overdraft: null, scope: 'device' }))
    .when(borrow('laptop', on(0)))
    .expectRefusal('borrowing_off'))

test('whatever runs out, is borrowed and given back when, no seat is taken twice, and none before its file ends', () => {
  const names = ['laptop', 'desktop', 'phone', 'tablet'] as const
  const name = fc.constantFrom(...names)
  // Any table of ends, also one that was lost, restored or made up.
  const ranOut = fc.array(
    fc.record({ deviceId: name.map((each) => `ins_${each}`), fence: fc.nat({ max: 15 }) }),
    { maxLength: 6 },
  )
  const step = fc.oneof(
    fc.record({ do: fc.constant('take' as const), name, ranOut }),
    fc.record({ do: fc.constant('borrow' as const), name, ranOut, days: fc.integer({ min: 1, max: 30 }) }),
    fc.record({ do: fc.constant('release' as const), name, fence: fc.option(fc.nat({ max: 15 })) }),
    fc.record({ do: fc.constant('release own' as const), name }),
    fc.record({ do: fc.constant('deactivate' as const), name }),
    fc.record({ do: fc.constant('end' as const), ranOut }),
    fc.record({ do: fc.constant('remint' as const) }),
    fc.record({ do: fc.constant('wait' as const), hours: fc.integer({ min: 1, max: 400 }) }),
  )
  const terms = fc.record({
    limit: fc.integer({ min: 1, max: 3 }),
    over: fc.integer({ min: 0, max: 1 }),
    maxBorrowed: fc.integer({ min: 1, max: 2 }),
  })
  let lendings = 0
  fc.assert(
    fc.property(
      terms,
      fc.array(step, { minLength: 15, maxLength: 60 }),
      ({ limit, over, maxBorrowed }, steps) => {
        const floating = { ...lending, overdraft: over === 0 ? null : { seats: over }, maxBorrowed }
        let license = evolveLicense(absentLicense, team(limit, floating)) as IssuedLicense
        let hours = 0
        let count = 0
        for (const each of steps) {
          if (each.do === 'wait') {
            hours += each.hours
            continue
          }
          const at = on(hours / 24)
          const before = license
          const seat = 'name' in each ? before.seats.get(`ins_${each.name}`) : undefined
          const command = ((): LicenseCommand => {
            switch (each.do) {
              case 'take':
                return take(each.name, at, each.ranOut)
              case 'borrow':
                return borrow(each.name, at, { days: each.days, counter: ++count, ranOut: each.ranOut })
              case 'release':
              case 'release own': {
                const serial = seat?.files?.at(-1)?.serial ?? 1
                const fence = each.do === 'release' ? each.fence : (seat?.fence ?? null)
                const { name: of } = each
                return {
                  type: 'ReleaseFile',
                  instanceId: `ins_${of}`,
                  deviceKey: `key-of-${of}`,
                  serial,
                  fence,
                  at,
                }
              }
              case 'deactivate':
                return { type: 'DeactivateDevice', deviceId: `ins_${each.name}`, at }
              case 'end':
                return { type: 'EndSeats', ranOut: each.ranOut, at }
              case 'remint':
                return {
                  type: 'RemintLicense',
                  keyHash: 'b'.repeat(64),
                  displayKey: 'ACME…8888',
                  keepDevices: false,
                  at,
                }
            }
          })()
          const outcome = outcomeOf(() => decideLicense(license, command))
          if ('refusal' in outcome) continue
          const released = outcome.events.flatMap((event) =>
            event.type === 'LicenseFileReleased' ? [event.data.deviceId] : [],
          )
          license = outcome.events.reduce<License>(evolveLicense, license) as IssuedLicense
          const seats = [...license.seats.values()]
          const active = seats.filter(({ status }) => status === 'active')
          const lent = active.filter(({ files }) => liveFile(files, at))
          lendings += outcome.events.filter(({ type }) => type === 'LicenseFileIssued').length
          expect(license.seatsUsed).toBe(active.length)
          expect(active.length).toBeLessThanOrEqual(limit + over)
          expect(lent.length).toBeLessThanOrEqual(maxBorrowed)
          const listed = Object.entries(license.borrowed ?? {}).filter(([, endsAt]) => at < endsAt)
          expect(listed.map(([deviceId]) => deviceId).toSorted()).toStrictEqual(
            lent.map(({ deviceId }) => deviceId).toSorted(),
          )
          for (const { deviceId, files, fence } of before.seats.values()) {
            if (!liveFile(files, at) || released.includes(deviceId)) continue
            expect(license.seats.get(deviceId)).toMatchObject({ status: 'active', fence })
          }
        }
      },
    ),
    { numRuns: 2000 },
  )
  expect(lendings).toBeGreaterThan(1000)
})
