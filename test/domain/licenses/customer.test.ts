/**
 * Guarantee: a customer frees at most as many seats within 30 days as the product allows, counted from the license's
 * own events; what support or the app itself frees does not count.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { freesLeft } from '../../../src/domain/licenses/customer.ts'
import type { LicenseEvent } from '../../../src/domain/licenses/events.ts'
import {
  absentLicense,
  decideLicense,
  evolveLicense,
  type LicenseCommand,
} from '../../../src/domain/licenses/license.ts'
import { Refusal } from '../../../src/domain/refusal.ts'
import { givenOn } from '../given.ts'
import { activated, at, deactivated, minted } from './license-samples.ts'

const given = givenOn({ initial: absentLicense, decide: decideLicense, evolve: evolveLicense })
const dayMs = 86_400_000
const inDays = (days: number) => new Date(Date.parse(at) + days * dayMs).toISOString()

const free = (most: number, moment = at): LicenseCommand => ({
  type: 'FreeSeat',
  deviceId: 'laptop',
  most,
  at: moment,
})
const freed = (moment = at): LicenseEvent => ({
  type: 'SeatFreedByCustomer',
  data: { deviceId: 'laptop', at: moment },
})
const license = minted({ expiresAt: null })

describe('freeing a seat', () => {
  test('deactivates the device, and says that the customer did it', () =>
    given(license, activated('laptop'))
      .when(free(3))
      .expectEvents([deactivated('laptop'), freed()]))

  test('does nothing for a device without a seat, so that a form sent twice counts once', () =>
    given(license, activated('laptop'), deactivated('laptop'), freed()).when(free(3)).expectEvents([]))

  test('is refused for a device that the license never had', () =>
    given(license).when(free(3)).expectRefusal('device_not_found'))

  test('is refused where the product does not allow it', () =>
    given(license, activated('laptop')).when(free(0)).expectRefusal('seat_frees_off'))

  test('is refused when as many were freed within 30 days', () =>
    given(license, freed(), freed(inDays(29)), activated('laptop'))
      .when(free(2, inDays(29.9)))
      .expectRefusal('seat_frees_spent'))

  test('is allowed again 30 days after one of them', () =>
    given(license, freed(), freed(inDays(29)), activated('laptop'))
      .when(free(2, inDays(30)))
      .expectEvents([deactivated('laptop', inDays(30)), freed(inDays(30))]))

  test('does not count what the app or support freed', () =>
    given(license, activated('laptop'), deactivated('laptop'), activated('laptop'))
      .when(free(1))
      .expectEvents([deactivated('laptop'), freed()]))

  test('is possible on a license that is suspended or revoked', () =>
    given(license, activated('laptop'), { type: 'LicenseSuspended', data: { reason: null, at } })
      .when(free(1))
      .expectEvents([deactivated('laptop'), freed()]))
})

test('no 30 days ever hold more frees than the product allows', () =>
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 20 }), { minLength: 1, maxLength: 40 }),
      fc.integer({ min: 1, max: 4 }),
      (waits, most) => {
        let state = [license].reduce(evolveLicense, absentLicense)
        let day = 0
        const frees: number[] = []
        for (const wait of waits) {
          day += wait
          state = evolveLicense(state, activated('laptop', inDays(day)))
          try {
            const events = decideLicense(state, free(most, inDays(day)))
            frees.push(day)
            state = events.reduce(evolveLicense, state)
          } catch (error) {
            if (!(error instanceof Refusal)) throw error
            expect(frees.filter((before) => before > day - 30)).toHaveLength(most)
          }
        }
        for (const one of frees)
          expect(frees.filter((other) => other <= one && other > one - 30).length).toBeLessThanOrEqual(most)
      },
    ),
  ))

describe('what is left', () => {
  const left = (freedByCustomerAt: string[], most: number, now = at) =>
    freesLeft({ freedByCustomerAt }, most, now)

  test('is everything at first', () => expect(left([], 3)).toStrictEqual({ left: 3, nextAt: null }))
  test('comes back 30 days after the oldest that counts', () =>
    expect(left([at, inDays(1), inDays(2)], 2, inDays(3))).toStrictEqual({ left: 0, nextAt: inDays(31) }))
  test('ignores a time far ahead, from a clock that was set back', () =>
    expect(left([inDays(400)], 1)).toStrictEqual({ left: 1, nextAt: null }))
})

describe('naming a device', () => {
  const name = { subjectId: 'sub_1', text: 'sealed.1.AAAA' }
  const naming = (given: typeof name | null): LicenseCommand => ({
    type: 'NameDevice',
    deviceId: 'laptop',
    name: given,
    at,
  })
  const named = (given: typeof name | null): LicenseEvent => ({
    type: 'DeviceNamed',
    data: { deviceId: 'laptop', name: given, at },
  })

  test('is recorded once', () => {
    given(license, activated('laptop'))
      .when(naming(name))
      .expectEvents([named(name)])
    given(license, activated('laptop'), named(name)).when(naming(name)).expectEvents([])
  })
  test('can be taken back', () =>
    given(license, activated('laptop'), named(name))
      .when(naming(null))
      .expectEvents([named(null)]))
  test('ends when the device takes a seat again', () => {
    const events = [license, activated('laptop'), named(name), deactivated('laptop'), activated('laptop')]
    const state = events.reduce(evolveLicense, absentLicense)
    expect(state.status === 'issued' && state.seats.get('laptop')?.givenName).toBeNull()
  })
  test('does not change by what an app finds its seat again', () => {
    const events = [license, activated('laptop'), named(name)]
    const state = events.reduce(evolveLicense, absentLicense)
    const device = state.status === 'issued' ? state.seats.get('laptop') : undefined
    const again: LicenseCommand = {
      type: 'ActivateInstance',
      instanceId: 'ins_9',
      platform: null,
      claim: { instanceId: null, installId: null, name: device?.name ?? '', identities: [] },
      atLeast: null,
      at,
    }
    expect(decideLicense(state, again)).toStrictEqual([])
  })
})
