/**
 * A floating seat is kept only as long as it is used. One that ran out is free when it is needed, each taking has a higher fence,
 * and what has an old fence can give back nothing.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { LicenseEvent } from '../../../src/domain/licenses/events.ts'
import { mostSeats, type RanOut } from '../../../src/domain/licenses/floating.ts'
import {
  absentLicense,
  decideLicense,
  evolveLicense,
  type License,
  type LicenseCommand,
} from '../../../src/domain/licenses/license.ts'
import type { FloatingSeats } from '../../../src/domain/products/key-type.ts'
import { givenOn, outcomeOf } from '../given.ts'
import { at, type DeviceId, device, later, minted, revoked } from './license-samples.ts'

const given = givenOn({ initial: absentLicense, decide: decideLicense, evolve: evolveLicense })

const floating: FloatingSeats = { seatSeconds: 600, overdraft: null, scope: 'device' }
const team = minted({ deviceLimit: 1, floating })

const taken = (deviceId: DeviceId, fence: number, moment = at): LicenseEvent => ({
  type: 'DeviceActivated',
  data: { ...device(deviceId), fence, at: moment },
})
const ranOut = (deviceId: DeviceId, moment = later): LicenseEvent => ({
  type: 'DeviceDeactivated',
  data: { deviceId, instanceId: `ins_${deviceId}`, ranOut: true, at: moment },
})
const take = (deviceId: DeviceId, ended: readonly RanOut[] = []): LicenseCommand => ({
  type: 'ActivateDevice',
  ...device(deviceId),
  ranOut: ended,
  at: later,
})

describe('a seat that ran out', () => {
  test('goes to the next device, with a higher fence', () => {
    given(team, taken('laptop', 1))
      .when(take('desktop', [{ deviceId: 'laptop', fence: 1 }]))
      .expectEvents([ranOut('laptop'), taken('desktop', 2, later)])
  })

  test('is taken while its end has not passed', () => {
    given(team, taken('laptop', 1)).when(take('desktop')).expectRefusal('seat_limit_reached')
  })

  test('is not freed twice: its device took another meanwhile', () => {
    given(team, taken('laptop', 1), ranOut('laptop'), taken('laptop', 2))
      .when(take('desktop', [{ deviceId: 'laptop', fence: 1 }]))
      .expectRefusal('seat_limit_reached')
  })

  test('is not taken up again by its own device: it gets a new one', () => {
    given(team, taken('laptop', 1))
      .when(take('laptop', [{ deviceId: 'laptop', fence: 1 }]))
      .expectEvents([ranOut('laptop'), taken('laptop', 2, later)])
  })

  test('is not recorded by a taking that is refused for something else', () => {
    given(team, taken('laptop', 1), revoked)
      .when(take('desktop', [{ deviceId: 'laptop', fence: 1 }]))
      .expectRefusal('license_revoked')
  })

  test('is recorded without a taking as well, once', () => {
    const end: LicenseCommand = { type: 'EndSeats', ranOut: [{ deviceId: 'laptop', fence: 1 }], at: later }
    given(team, taken('laptop', 1))
      .when(end)
      .expectEvents([ranOut('laptop')])
    given(team, taken('laptop', 1), ranOut('laptop')).when(end).expectEvents([])
  })
})

describe('a fence', () => {
  const giveBack = (fence: number | null): LicenseCommand => ({
    type: 'DeactivateDevice',
    deviceId: 'laptop',
    fence,
    at: later,
  })
  const again = [team, taken('laptop', 1), ranOut('laptop'), taken('laptop', 2)]

  test('of an earlier seat gives nothing back', () => {
    given(...again)
      .when(giveBack(1))
      .expectRefusal('seat_lost')
  })

  test('of the present seat gives it back, as does a call without one', () => {
    const freed: LicenseEvent = {
      type: 'DeviceDeactivated',
      data: { deviceId: 'laptop', instanceId: 'ins_laptop', at: later },
    }
    for (const fence of [2, null])
      given(...again)
        .when(giveBack(fence))
        .expectEvents([freed])
  })
})

describe('a process', () => {
  const farm = minted({ deviceLimit: 3, floating: { ...floating, scope: 'process' } })
  const start = (instanceId: string, known: string | null = null): LicenseCommand => ({
    type: 'ActivateInstance',
    instanceId,
    platform: 'linux',
    claim: {
      instanceId: known,
      installId: 'machine',
      name: 'node-1',
      identities: [{ subjectId: 'sub', machine: 'a'.repeat(16), components: {} }],
    },
    atLeast: null,
    at: later,
  })
  const started = (instanceId: string, fence: number): LicenseEvent => ({
    type: 'DeviceActivated',
    data: {
      deviceId: instanceId,
      instanceId,
      installId: null,
      name: 'node-1',
      platform: 'linux',
      fence,
      at: later,
    },
  })

  test('has a seat of its own on the machine of another, and keeps it by its id', () => {
    given(farm)
      .when(start('ins_1'))
      .expectEvents([started('ins_1', 1)])
    given(farm, started('ins_1', 1))
      .when(start('ins_2'))
      .expectEvents([started('ins_2', 2)])
    given(farm, started('ins_1', 1)).when(start('ins_2', 'ins_1')).expectEvents([])
  })
})

test('the devices of an imported license have floating seats, in their order', () => {
  const { data: terms } = team as Extract<LicenseEvent, { type: 'LicenseMinted' }>
  const devices = (['laptop', 'desktop'] as const).map(device)
  given()
    .when({ type: 'ImportLicense', terms: { ...terms, deviceLimit: 2 }, devices, revoked: false })
    .expectEvents([
      { type: 'LicenseImported', data: { ...terms, deviceLimit: 2 } },
      ...devices.map(
        (each, index): LicenseEvent => ({
          type: 'DeviceActivated',
          data: { ...each, fence: index + 1, at: terms.at },
        }),
      ),
    ])
})

test.each([
  [null, null, null],
  [10, null, 10],
  [10, { seats: 2 }, 12],
  [10, { share: 0.25 }, 12],
  [3, { share: 0.1 }, 3],
])('a limit of %j with an overdraft of %j allows %j seats', (deviceLimit, overdraft, most) => {
  expect(mostSeats({ deviceLimit, floating: { ...floating, overdraft } })).toBe(most)
})

test('whatever runs out when, there are never more seats than allowed, and fences only rise', () => {
  const devices: DeviceId[] = ['laptop', 'desktop', 'phone']
  const ended = fc.array(fc.record({ deviceId: fc.constantFrom(...devices), fence: fc.nat({ max: 12 }) }), {
    maxLength: 4,
  })
  const command = fc.oneof(
    fc.tuple(fc.constantFrom(...devices), ended).map(([deviceId, gone]) => take(deviceId, gone)),
    fc
      .tuple(fc.constantFrom(...devices), fc.option(fc.nat({ max: 12 })))
      .map(([deviceId, fence]): LicenseCommand => ({ type: 'DeactivateDevice', deviceId, fence, at: later })),
    ended.map((gone): LicenseCommand => ({ type: 'EndSeats', ranOut: gone, at: later })),
  )
  const seats = fc.record({ limit: fc.integer({ min: 1, max: 2 }), over: fc.integer({ min: 0, max: 1 }) })
  fc.assert(
    fc.property(seats, fc.array(command, { maxLength: 40 }), ({ limit, over }, all) => {
      const own = { ...floating, overdraft: over === 0 ? null : { seats: over } }
      let license: License = evolveLicense(absentLicense, minted({ deviceLimit: limit, floating: own }))
      let last = 0
      for (const each of all) {
        const outcome = outcomeOf(() => decideLicense(license, each))
        if ('refusal' in outcome) continue
        for (const event of outcome.events) {
          if (event.type === 'DeviceActivated') {
            expect(event.data.fence).toBeGreaterThan(last)
            last = event.data.fence ?? 0
          }
          license = evolveLicense(license, event)
        }
        if (license.status === 'absent') throw new Error('it was minted')
        const active = [...license.seats.values()].filter(({ status }) => status === 'active')
        expect(license.seatsUsed).toBe(active.length)
        expect(active.length).toBeLessThanOrEqual(limit + over)
      }
    }),
    { numRuns: 2000 },
  )
})
