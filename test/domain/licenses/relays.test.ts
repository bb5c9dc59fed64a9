/**
 * Guarantee: a relay takes its seats of the license at its enrollment, and they come back when none of its certificates can be used
 * any more, or with its release. A relay that was copied is recorded once, and never renewed.
 */
import { describe, expect, test } from 'vitest'
import type { LicenseEvent } from '../../../src/domain/licenses/events.ts'
import { absentLicense, decideLicense, evolveLicense } from '../../../src/domain/licenses/license.ts'
import type { ChainHead } from '../../../src/domain/licenses/relay-events.ts'
import { relaySeats } from '../../../src/domain/licenses/relay-seats.ts'
import { givenOn } from '../given.ts'
import { at, type DeviceId, device, end, later, minted, revoked } from './license-samples.ts'
import { certify, day, floating, head, release, secondsAfter, take, team } from './relay-samples.ts'

const given = givenOn({ initial: absentLicense, decide: decideLicense, evolve: evolveLicense })

const certificate = (seats: number, from: string, seconds: number) => ({
  relayId: 'rel_1',
  name: 'Farm',
  seats,
  endsAt: secondsAfter(seconds, from),
  head: head(0),
  nonce: 'nonce-1',
  counter: 1,
  serial: Date.parse(from) * 1000,
  at: from,
})
type Certified = Extract<LicenseEvent, { type: 'RelayRenewed' }>['data']
const enrolled = (own: Partial<Certified> = {}): LicenseEvent => ({
  type: 'RelayEnrolled',
  data: { ...certificate(3, at, 30 * day), publicKey: 'key', ...own },
})
const renewed = (own: Partial<Certified> = {}): LicenseEvent => ({
  type: 'RelayRenewed',
  data: { ...certificate(3, later, 30 * day), nonce: 'nonce-2', counter: 2, head: head(4), ...own },
})
const releasedAt = (moment: string): LicenseEvent => ({
  type: 'RelayReleased',
  data: { relayId: 'rel_1', name: 'Farm', at: moment },
})
const forked = (known: ChainHead, reported: ChainHead, moment = later): LicenseEvent => ({
  type: 'RelayForked',
  data: { relayId: 'rel_1', name: 'Farm', known, reported, at: moment },
})
const taken = (deviceId: DeviceId, fence: number): LicenseEvent => ({
  type: 'DeviceActivated',
  data: { ...device(deviceId), fence, at },
})
const again = { relayId: 'rel_1', nonce: 'nonce-2', counter: 2, heads: [head(0), head(4)] } as const

describe('a relay that enrolls', () => {
  test('takes its seats until its certificate ends', () => {
    given(team).when(certify()).expectEvents([enrolled()])
    given(team, taken('laptop', 1), taken('desktop', 2)).when(certify()).expectEvents([enrolled()])
  })

  test('gets no more seats than are free, those of other relays counted', () => {
    given(team, taken('laptop', 1), taken('desktop', 2), taken('phone', 3))
      .when(certify())
      .expectRefusal('seat_limit_reached')
    given(team, enrolled())
      .when(certify({ publicKey: 'other' }, { newId: 'rel_2' }))
      .expectRefusal('seat_limit_reached')
  })

  test('takes the seat of a device that ran out, in the same append', () => {
    const full = minted({ deviceLimit: 3, expiresAt: null, floating })
    given(full, taken('laptop', 1))
      .when(certify({}, { ranOut: [{ deviceId: 'laptop', fence: 1 }] }))
      .expectEvents([
        {
          type: 'DeviceDeactivated',
          data: { deviceId: 'laptop', instanceId: 'ins_laptop', ranOut: true, at },
        },
        enrolled(),
      ])
  })

  test('has an overdraft as devices have', () =>
    given(minted({ deviceLimit: 2, expiresAt: null, floating: { ...floating, overdraft: { seats: 1 } } }))
      .when(certify())
      .expectEvents([enrolled()]))

  test('ends with the license at the latest', () =>
    given(minted({ deviceLimit: 5, floating }))
      .when(certify({}, { seconds: 300 * day }))
      .expectEvents([enrolled({ endsAt: end })]))

  test('starts the term of a license that waits for its first device', () => {
    const waiting = minted({
      deviceLimit: 5,
      expiresAt: null,
      startsWith: { count: 10, unit: 'day' },
      floating,
    })
    given(waiting)
      .when(certify())
      .expectEvents([
        { type: 'LicenseStarted', data: { expiresAt: secondsAfter(10 * day), sold: null, at } },
        enrolled({ endsAt: secondsAfter(10 * day) }),
      ])
  })

  test('is refused as a device is', () => {
    given(team, revoked)
      .when(certify({}, { at: later }))
      .expectRefusal('license_revoked')
    given(minted({ deviceLimit: 5, floating }))
      .when(certify({}, { at: secondsAfter(day, end) }))
      .expectRefusal('license_expired')
    given(team, { type: 'LicenseSuspended', data: { reason: null, at } })
      .when(certify())
      .expectRefusal('license_suspended')
    given(minted({ deviceLimit: 5 }))
      .when(certify())
      .expectRefusal('relays_off')
  })

  test('gets the same certificate for the same request while that lasts', () => {
    given(team, enrolled())
      .when(certify({}, { at: later }))
      .expectEvents([])
    given(team, enrolled())
      .when(certify({}, { at: secondsAfter(30 * day) }))
      .expectRefusal('relay_request_outdated')
  })

  test('is renewed when the answer to its enrollment was lost and it asks again', () =>
    given(team, enrolled())
      .when(certify({ nonce: 'nonce-2', counter: 2 }, { at: later }))
      .expectEvents([renewed({ head: head(0) })]))

  test('is one of 100 within a year at most', () => {
    const spent = Array.from({ length: 100 }, (_, index) => [
      enrolled({ relayId: `rel_${index}`, counter: index + 1, nonce: `nonce-${index}` }),
      { type: 'RelayReleased', data: { relayId: `rel_${index}`, name: 'Farm', at } } as const,
    ]).flat()
    const more = { nonce: 'more', counter: 200 }
    given(team, ...spent)
      .when(certify(more, { at: later }))
      .expectRefusal('relay_limit_reached')
  })
})

describe('a relay that is renewed', () => {
  test('keeps its seats, and may ask for others', () => {
    given(team, enrolled())
      .when(certify(again, { at: later }))
      .expectEvents([renewed()])
    given(team, enrolled())
      .when(certify({ ...again, seats: 5 }, { at: later }))
      .expectEvents([renewed({ seats: 5 })])
    given(team, enrolled(), taken('laptop', 1))
      .when(certify({ ...again, seats: 5 }, { at: later }))
      .expectRefusal('seat_limit_reached')
  })

  test('frees seats only when the certificate that allowed them has ended, with ten minutes for its clock', () => {
    const fewer = [team, enrolled({ endsAt: secondsAfter(2 * day) }), renewed({ seats: 1 })]
    const license = fewer.reduce(evolveLicense, absentLicense)
    if (license.status === 'absent') throw new Error('it was minted')
    const seatsAt = [
      later,
      secondsAfter(2 * day + 599),
      secondsAfter(2 * day + 600),
      secondsAfter(31 * day + 600),
    ].map((moment) => relaySeats(license, moment))
    expect(seatsAt).toStrictEqual([3, 3, 1, 0])
    given(...fewer, taken('laptop', 1), taken('desktop', 2))
      .when(take('phone', later))
      .expectRefusal('seat_limit_reached')
  })

  test('needs the key that it was enrolled with', () => {
    given(team, enrolled())
      .when(certify({ ...again, publicKey: 'other' }))
      .expectRefusal('relay_not_found')
    given(team).when(certify(again)).expectRefusal('relay_not_found')
  })

  test('is refused an older request, also one from before its release', () => {
    given(team, enrolled(), renewed())
      .when(certify({ ...again, nonce: 'nonce-0', counter: 1 }, { at: later }))
      .expectRefusal('relay_request_outdated')
    given(team, enrolled(), renewed())
      .when(certify({}, { at: later }))
      .expectRefusal('relay_request_outdated')
    given(team, enrolled(), releasedAt(later))
      .when(certify({}, { at: later }))
      .expectRefusal('relay_request_outdated')
    given(team, enrolled(), releasedAt(later))
      .when(certify({ nonce: 'nonce-2', counter: 2 }, { at: later, newId: 'rel_2' }))
      .expectEvents([
        enrolled({ ...certificate(3, later, 30 * day), relayId: 'rel_2', nonce: 'nonce-2', counter: 2 }),
      ])
  })

  test('is renewed after its end, if seats are free then', () => {
    const long = secondsAfter(60 * day)
    given(team, enrolled())
      .when(certify(again, { at: long }))
      .expectEvents([
        renewed({ ...certificate(3, long, 30 * day), nonce: 'nonce-2', counter: 2, head: head(4) }),
      ])
    given(team, enrolled(), taken('laptop', 1), taken('desktop', 2), taken('phone', 3))
      .when(certify(again, { at: long }))
      .expectRefusal('seat_limit_reached')
  })

  test('of a license whose limit was lowered gets no more than that', () => {
    const lowered: LicenseEvent = {
      type: 'LicenseEdited',
      data: {
        keyTypeId: 'pro',
        quantity: 1,
        deviceLimit: 2,
        onExpiry: 'expire',
        expiresAt: null,
        holder: null,
        metadata: {},
        sold: null,
        reason: null,
        at,
      },
    }
    given(team, enrolled(), lowered)
      .when(certify(again, { at: later }))
      .expectRefusal('seat_limit_reached')
    given(team, enrolled(), lowered)
      .when(certify({ ...again, seats: 2 }, { at: later }))
      .expectEvents([renewed({ seats: 2 })])
  })
})

describe('a relay that was copied', () => {
  const next = { ...again, nonce: 'nonce-3', counter: 3 }

  test('shows itself by a chain without the head that was reported before', () => {
    given(team, enrolled(), renewed())
      .when(certify({ ...next, heads: [head(0), head(4, 'b')] }, { at: later }))
      .expectEvents([forked(head(4), head(4, 'b'))])
    given(team, enrolled(), renewed())
      .when(certify({ ...next, heads: [head(4), head(9)] }, { at: later }))
      .expectEvents([
        renewed({ nonce: 'nonce-3', counter: 3, head: head(9), serial: Date.parse(later) * 1000 + 1 }),
      ])
  })

  test('shows itself by two requests with one counter', () =>
    given(team, enrolled(), renewed())
      .when(certify({ ...next, counter: 2, heads: [head(4), head(5)] }, { at: later }))
      .expectEvents([forked(head(4), head(5))]))

  test('is recorded once, and neither renewed nor released', () => {
    const copied = [team, enrolled(), forked(head(0), head(4, 'b'))]
    given(...copied)
      .when(certify(again, { at: later }))
      .expectRefusal('relay_copied')
    given(...copied)
      .when(certify({}, { at: later }))
      .expectRefusal('relay_copied')
    given(...copied)
      .when(release([head(0)]))
      .expectRefusal('relay_copied')
  })

  test('keeps its seats taken until its certificate ends', () => {
    const copied = [team, enrolled(), forked(head(0), head(4, 'b'))]
    const license = copied.reduce(evolveLicense, absentLicense)
    if (license.status === 'absent') throw new Error('it was minted')
    expect([later, secondsAfter(30 * day + 600)].map((moment) => relaySeats(license, moment))).toStrictEqual([
      3, 0,
    ])
  })
})

describe('a relay that is released', () => {
  test('gives its seats back at once, and does so once', () => {
    given(team, enrolled())
      .when(release([head(0), head(2)]))
      .expectEvents([releasedAt(later)])
    given(team, enrolled(), releasedAt(at))
      .when(release([head(0)]))
      .expectEvents([])
    given(team, enrolled({ seats: 5 }), releasedAt(at))
      .when(take('phone', later))
      .expectEvents([{ type: 'DeviceActivated', data: { ...device('phone'), fence: 1, at: later } }])
    given(team, enrolled(), releasedAt(at)).when(certify(again)).expectRefusal('relay_released')
  })

  test('is another license’s, or a copy', () => {
    given(team, enrolled())
      .when(release([head(0)], later, 'rel_2'))
      .expectRefusal('relay_not_found')
    given(team, enrolled(), renewed())
      .when(release([head(0), head(3, 'b')]))
      .expectEvents([forked(head(4), head(3, 'b'))])
  })
})

test('a device finds no seat that a relay has, until ten minutes after its end', () => {
  given(team, enrolled({ seats: 5 }))
    .when(take('laptop', secondsAfter(30 * day + 599)))
    .expectRefusal('seat_limit_reached')
  given(team, enrolled({ seats: 5 }))
    .when(take('laptop', secondsAfter(30 * day + 600)))
    .expectEvents([
      { type: 'DeviceActivated', data: { ...device('laptop'), fence: 1, at: secondsAfter(30 * day + 600) } },
    ])
})
