/**
 * A seat of a license with named seats belongs to a person, who activates devices with a key of their own. Who loses the seat loses
 * their devices with it, and a customer waits before another person may have it.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { LicenseEvent } from '../../../src/domain/licenses/events.ts'
import {
  absentLicense,
  decideLicense,
  evolveLicense,
  type License,
  type LicenseCommand,
} from '../../../src/domain/licenses/license.ts'
import { devicesSeated } from '../../../src/domain/licenses/named.ts'
import type { PersonalKey } from '../../../src/domain/licenses/named-events.ts'
import type { NamedSeats } from '../../../src/domain/products/key-type.ts'
import { Refusal } from '../../../src/domain/refusal.ts'
import { givenOn } from '../given.ts'
import { at, type DeviceId, device, later, minted, revoked } from './license-samples.ts'

const given = givenOn({ initial: absentLicense, decide: decideLicense, evolve: evolveLicense })

const rules: NamedSeats = { devicesPerPerson: 2, reassignEveryDays: 30 }
const team = minted({ deviceLimit: 1, named: rules })
const inThirtyDays = new Date(Date.parse(at) + 30 * 86_400_000).toISOString()

const keyOf = (personId: string, version = 1): PersonalKey => ({
  keyId: `pky_${personId}_${version}`,
  keyHash: `${version}`.repeat(64),
  displayKey: 'ACME…0001',
})
const assigned = (personId: string, moment = at): LicenseEvent => ({
  type: 'SeatAssigned',
  data: { personId, ...keyOf(personId), at: moment },
})
const unassigned = (personId: string, moment = later): LicenseEvent => ({
  type: 'SeatUnassigned',
  data: { personId, waitsUntil: inThirtyDays, at: moment },
})
const assign = (personId: string, isVendor = false, moment = later): LicenseCommand => ({
  type: 'AssignSeat',
  personId,
  key: keyOf(personId),
  isVendor,
  at: moment,
})
const unassign = (personId: string): LicenseCommand => ({ type: 'UnassignSeat', personId, at: later })
const taken = (deviceId: DeviceId, personId: string): LicenseEvent => ({
  type: 'DeviceActivated',
  data: { ...device(deviceId), personId, at },
})
const take = (deviceId: DeviceId, personId: string | null): LicenseCommand => ({
  type: 'ActivateDevice',
  ...device(deviceId),
  personId,
  at: later,
})
const freed = (deviceId: DeviceId): LicenseEvent => ({
  type: 'DeviceDeactivated',
  data: { deviceId, instanceId: `ins_${deviceId}`, at: later },
})

describe('a seat is given', () => {
  test('to a person once', () => {
    given(team)
      .when(assign('per_1'))
      .expectEvents([assigned('per_1', later)])
    given(team, assigned('per_1')).when(assign('per_1')).expectEvents([])
  })

  test('to no more people than there are seats, also by the vendor', () => {
    given(team, assigned('per_1')).when(assign('per_2')).expectRefusal('seat_limit_reached')
    given(team, assigned('per_1')).when(assign('per_2', true)).expectRefusal('seat_limit_reached')
  })

  test('not of a revoked license, nor of one whose seats are of devices', () => {
    given(team, revoked).when(assign('per_1')).expectRefusal('license_revoked')
    given(minted({ deviceLimit: 1 }))
      .when(assign('per_1'))
      .expectRefusal('seats_not_named')
  })
})

describe('a seat that is taken from a person', () => {
  test('frees their devices at once', () => {
    given(team, assigned('per_1'), taken('laptop', 'per_1'), taken('desktop', 'per_1'))
      .when(unassign('per_1'))
      .expectEvents([freed('laptop'), freed('desktop'), unassigned('per_1')])
    given(team).when(unassign('per_1')).expectEvents([])
  })

  test('waits before another has it, unless the vendor gives it; the same person has it back at once', () => {
    given(team, assigned('per_1'), unassigned('per_1')).when(assign('per_2')).expectRefusal('seat_waits')
    given(team, assigned('per_1'), unassigned('per_1'))
      .when(assign('per_2', true))
      .expectEvents([assigned('per_2', later)])
    given(team, assigned('per_1'), unassigned('per_1'))
      .when(assign('per_1'))
      .expectEvents([assigned('per_1', later)])
    given(team, assigned('per_1'), unassigned('per_1'))
      .when(assign('per_2', false, inThirtyDays))
      .expectEvents([assigned('per_2', inThirtyDays)])
  })
})

describe('a device', () => {
  test('is activated with the key of a person who has a seat, and with no other', () => {
    given(team, assigned('per_1'))
      .when(take('laptop', 'per_1'))
      .expectEvents([
        { type: 'DeviceActivated', data: { ...device('laptop'), personId: 'per_1', at: later } },
      ])
    given(team, assigned('per_1')).when(take('laptop', null)).expectRefusal('assigned_to_another')
    given(team, assigned('per_1')).when(take('laptop', 'per_2')).expectRefusal('assigned_to_another')
  })

  test('is given back with the key of its person, or by the vendor, and with no other key', () => {
    const own = given(team, assigned('per_1'), taken('laptop', 'per_1'))
    const giveBack = (personId?: string | null): LicenseCommand => ({
      type: 'DeactivateDevice',
      deviceId: 'laptop',
      ...(personId !== undefined && { personId }),
      at: later,
    })
    for (const personId of ['per_1', undefined]) own.when(giveBack(personId)).expectEvents([freed('laptop')])
    for (const personId of ['per_2', null]) own.when(giveBack(personId)).expectRefusal('assigned_to_another')
  })

  test('is one of as many as a person may have, and of one person', () => {
    const two = given(team, assigned('per_1'), taken('laptop', 'per_1'), taken('desktop', 'per_1'))
    two.when(take('laptop', 'per_1')).expectEvents([])
    two.when(take('phone', 'per_1')).expectRefusal('seat_limit_reached')
    given(
      minted({ deviceLimit: 2, named: rules }),
      assigned('per_1'),
      assigned('per_2'),
      taken('laptop', 'per_1'),
    )
      .when(take('laptop', 'per_2'))
      .expectRefusal('assigned_to_another')
  })
})

test('a key is replaced only for a person who has a seat', () => {
  const replace: LicenseCommand = {
    type: 'ReplacePersonalKey',
    personId: 'per_1',
    key: keyOf('per_1', 2),
    at: later,
  }
  given(team, assigned('per_1'))
    .when(replace)
    .expectEvents([
      { type: 'PersonalKeyReplaced', data: { personId: 'per_1', ...keyOf('per_1', 2), at: later } },
    ])
  given(team).when(replace).expectRefusal('person_without_seat')
})

const people = ['per_1', 'per_2', 'per_3'] as const
const devices = ['laptop', 'desktop', 'phone'] as const
const moments = [at, later, inThirtyDays]

const someCommand: fc.Arbitrary<(moment: string) => LicenseCommand> = fc.oneof(
  fc.record({ personId: fc.constantFrom(...people), isVendor: fc.boolean() }).map(
    ({ personId, isVendor }) =>
      (moment: string) =>
        assign(personId, isVendor, moment),
  ),
  fc
    .constantFrom(...people)
    .map((personId) => (moment: string) => ({ type: 'UnassignSeat', personId, at: moment }) as const),
  fc.record({ personId: fc.option(fc.constantFrom(...people)), deviceId: fc.constantFrom(...devices) }).map(
    ({ personId, deviceId }) =>
      (moment: string) =>
        ({ ...take(deviceId, personId), at: moment }) as LicenseCommand,
  ),
  fc
    .constantFrom(...devices)
    .map((deviceId) => (moment: string) => ({ type: 'DeactivateDevice', deviceId, at: moment }) as const),
  fc.boolean().map(
    (keepDevices) => (moment: string) =>
      ({
        type: 'RemintLicense',
        keyHash: '9'.repeat(64),
        displayKey: 'ACME…0009',
        keepDevices,
        at: moment,
      }) as const,
  ),
)

test('whatever happens: no more people than seats, no more devices than a person may have, and none of a person without a seat', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 3 }),
      fc.array(fc.tuple(someCommand, fc.constantFrom(...moments)), { maxLength: 40 }),
      (deviceLimit, steps) => {
        let license: License = evolveLicense(absentLicense, minted({ deviceLimit, named: rules }))
        for (const [command, moment] of steps.toSorted(([, a], [, b]) => (a < b ? -1 : Number(a > b)))) {
          try {
            license = decideLicense(license, command(moment)).reduce(evolveLicense, license)
          } catch (error) {
            if (!(error instanceof Refusal)) throw error
          }
          if (license.status === 'absent' || license.named === null) throw new Error('it is there')
          const seated = Object.entries(license.named.people)
          expect(seated.length).toBeLessThanOrEqual(deviceLimit)
          expect(license.seatsUsed).toBe(seated.length)
          const active = [...license.seats.values()].filter(({ status }) => status === 'active')
          expect(devicesSeated(license)).toBe(active.length)
          const owned = new Map(seated.map(([personId, { deviceIds }]) => [personId, deviceIds.toSorted()]))
          for (const [personId, own] of owned) {
            expect(own.length).toBeLessThanOrEqual(rules.devicesPerPerson)
            const theirs = active.filter((seat) => seat.personId === personId)
            expect(theirs.map(({ deviceId }) => deviceId).toSorted()).toStrictEqual(own)
          }
          for (const { personId } of active) expect(owned.has(personId ?? '')).toBe(true)
        }
      },
    ),
    { numRuns: 500 },
  )
})
