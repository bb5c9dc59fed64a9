/**
 * Seats are given while the license is active and has one free; a request that is already true changes nothing;
 * a revocation is final.
 */
import { describe, test } from 'vitest'
import type { LicenseEvent } from '../../../src/domain/licenses/events.ts'
import {
  absentLicense,
  decideLicense,
  evolveLicense,
  type LicenseCommand,
} from '../../../src/domain/licenses/license.ts'
import { givenOn } from '../given.ts'
import {
  activated,
  afterEnd,
  at,
  type DeviceId,
  deactivated,
  device,
  end,
  expired,
  fellBack,
  later,
  minted,
  nextEnd,
  reminted,
  renewed,
  revoked,
  terms,
} from './license-samples.ts'

const given = givenOn({ initial: absentLicense, decide: decideLicense, evolve: evolveLicense })

const activate = (deviceId: DeviceId, moment = later): LicenseCommand => ({
  type: 'ActivateDevice',
  ...device(deviceId),
  at: moment,
})
const deactivate = (deviceId: DeviceId): LicenseCommand => ({ type: 'DeactivateDevice', deviceId, at: later })
const newKey = { keyHash: 'c'.repeat(64), displayKey: 'ACME…9999', keepDevices: false, at: later }
const remint: LicenseCommand = { type: 'RemintLicense', ...newKey }
const revoke: LicenseCommand = { type: 'RevokeLicense', reason: 'chargeback', at: later }
const renew = (expiresAt: string): LicenseCommand => ({ type: 'RenewLicense', expiresAt, at: later })
const endPeriod = (moment: string): LicenseCommand => ({ type: 'EndPaidPeriod', at: moment })
const mint: LicenseCommand = { type: 'MintLicense', terms }
const importing = { type: 'ImportLicense', terms, devices: [], revoked: false } as const

const fallback = minted({ onExpiry: 'fallback' })
const perpetual = minted({ expiresAt: null })

const everyState: [string, LicenseEvent[]][] = [
  ['active', [minted()]],
  ['active and full', [minted(), activated('laptop')]],
  ['perpetual', [perpetual]],
  ['reminted', [minted(), reminted(false)]],
  ['renewed', [minted(), renewed]],
  ['expired', [minted(), expired]],
  ['fallen back', [fallback, fellBack]],
  ['revoked', [minted(), revoked]],
]

describe('issuing', () => {
  test('a license begins with its terms', () =>
    given()
      .when(mint)
      .expectEvents([{ type: 'LicenseMinted', data: terms }]))

  test('an imported license that was suspended begins suspended', () =>
    given()
      .when({ ...importing, suspended: true })
      .expectEvents([
        { type: 'LicenseImported', data: terms },
        { type: 'LicenseSuspended', data: { reason: 'imported as suspended', at: terms.at } },
      ]))

  test('an imported license that was revoked is not suspended as well', () =>
    given()
      .when({ ...importing, revoked: true, suspended: true })
      .expectEvents([
        { type: 'LicenseImported', data: terms },
        {
          type: 'LicenseRevoked',
          data: { reason: 'imported as revoked', cause: 'person', at: terms.at },
        },
      ]))

  test('an imported license brings its devices along, all at the moment of the import', () =>
    given()
      .when({
        ...importing,
        terms: { ...terms, deviceLimit: 2, at: later },
        devices: [device('laptop'), device('phone')],
      })
      .expectEvents([
        { type: 'LicenseImported', data: { ...terms, deviceLimit: 2, at: later } },
        activated('laptop', later),
        activated('phone', later),
      ]))

  test('a license imported as revoked is revoked at once, after its devices', () =>
    given()
      .when({ ...importing, devices: [device('laptop')], revoked: true })
      .expectEvents([
        { type: 'LicenseImported', data: terms },
        activated('laptop'),
        { type: 'LicenseRevoked', data: { reason: 'imported as revoked', cause: 'person', at } },
      ]))

  test('an import with more devices than seats is refused as a whole', () =>
    given()
      .when({ ...importing, devices: [device('laptop'), device('phone')] })
      .expectRefusal('seat_limit_reached'))

  test('an import without a limit accepts any number of devices', () =>
    given()
      .when({
        ...importing,
        terms: { ...terms, deviceLimit: null },
        devices: [device('laptop'), device('phone')],
      })
      .expectEvents([
        { type: 'LicenseImported', data: { ...terms, deviceLimit: null } },
        activated('laptop'),
        activated('phone'),
      ]))

  test('a device named twice in an import gets one seat', () =>
    given()
      .when({ ...importing, devices: [device('laptop'), device('laptop')] })
      .expectEvents([{ type: 'LicenseImported', data: terms }, activated('laptop')]))

  test.each(everyState)('an id whose license is %s is refused, minted or imported', (_, history) => {
    given(...history)
      .when(mint)
      .expectRefusal('license_exists')
    given(...history)
      .when(importing)
      .expectRefusal('license_exists')
  })
})

test.each([activate('laptop'), deactivate('laptop'), remint, revoke, renew(nextEnd), endPeriod(afterEnd)])(
  '$type on a license that is not there is refused',
  (command) => given().when(command).expectRefusal('license_not_found'),
)

describe('activating', () => {
  test('a device gets a free seat', () =>
    given(minted())
      .when(activate('laptop'))
      .expectEvents([activated('laptop', later)]))

  test('an active device gets no second seat, even on a full license', () =>
    given(minted(), activated('laptop')).when(activate('laptop')).expectEvents([]))

  test('an active device keeps its instance when a retry sends another', () =>
    given(minted({ deviceLimit: 3 }), activated('laptop'))
      .when({ type: 'ActivateDevice', ...device('laptop'), instanceId: 'ins_other', at: later })
      .expectEvents([]))

  test('a second device is refused on a one-device license', () =>
    given(minted(), activated('laptop')).when(activate('desktop')).expectRefusal('seat_limit_reached'))

  test('the last seat of several is given, and the next one refused', () => {
    const two = minted({ deviceLimit: 2 })
    given(two, activated('laptop'))
      .when(activate('desktop'))
      .expectEvents([activated('desktop', later)])
    given(two, activated('laptop'), activated('desktop'))
      .when(activate('phone'))
      .expectRefusal('seat_limit_reached')
  })

  test('a license without a limit always has a seat', () =>
    given(minted({ deviceLimit: null }), activated('laptop'), activated('desktop'))
      .when(activate('phone'))
      .expectEvents([activated('phone', later)]))

  test('a freed seat can be given to another device', () =>
    given(minted(), activated('laptop'), deactivated('laptop'))
      .when(activate('desktop'))
      .expectEvents([activated('desktop', later)]))

  test('a deactivated device can be activated again', () =>
    given(minted(), activated('laptop'), deactivated('laptop'))
      .when(activate('laptop'))
      .expectEvents([activated('laptop', later)]))

  test('a deactivated device is refused when another has its seat', () =>
    given(minted(), activated('laptop'), deactivated('laptop'), activated('phone'))
      .when(activate('laptop'))
      .expectRefusal('seat_limit_reached'))

  test('a remint that drops the devices frees their seats', () =>
    given(minted(), activated('laptop'), reminted(false))
      .when(activate('desktop'))
      .expectEvents([activated('desktop', later)]))

  test('a remint that keeps the devices keeps their seats', () =>
    given(minted(), activated('laptop'), reminted(true))
      .when(activate('desktop'))
      .expectRefusal('seat_limit_reached'))
})

describe('activating on a license that is not active', () => {
  const seated = activated('laptop')

  test.each<[string, LicenseEvent[]]>([
    ['a new device', []],
    ['a device that sits already', [seated]],
  ])('refuses %s with the reason', (_, seats) => {
    given(minted(), ...seats, revoked)
      .when(activate('laptop'))
      .expectRefusal('license_revoked')
    given(minted(), ...seats)
      .when(activate('laptop', afterEnd))
      .expectRefusal('license_expired')
  })

  test('gives seats in fallback, within the limit', () => {
    given(fallback)
      .when(activate('laptop', afterEnd))
      .expectEvents([activated('laptop', afterEnd)])
    given(fallback, fellBack, seated).when(activate('laptop', afterEnd)).expectEvents([])
    const single = minted({ onExpiry: 'fallback', deviceLimit: 1 })
    given(single, activated('phone'), fellBack)
      .when(activate('laptop', afterEnd))
      .expectRefusal('seat_limit_reached')
  })

  test('needs no record of the expiry: the expiry second itself is too late', () => {
    given(minted())
      .when(activate('laptop', '2026-04-01T11:59:59.999Z'))
      .expectEvents([activated('laptop', '2026-04-01T11:59:59.999Z')])
    given(minted()).when(activate('laptop', end)).expectRefusal('license_expired')
  })

  test('gives seats again once the license is renewed', () =>
    given(minted(), expired, { type: 'LicenseRenewed', data: { expiresAt: nextEnd, at: afterEnd } })
      .when(activate('laptop', afterEnd))
      .expectEvents([activated('laptop', afterEnd)]))
})

describe('deactivating', () => {
  test('a device frees its seat, under the instance of that seat', () =>
    given(minted(), activated('laptop'))
      .when(deactivate('laptop'))
      .expectEvents([deactivated('laptop', later)]))

  test('a deactivated device changes nothing', () =>
    given(minted(), activated('laptop'), deactivated('laptop')).when(deactivate('laptop')).expectEvents([]))

  test('a device without a seat changes nothing', () =>
    given(minted(), activated('laptop')).when(deactivate('phone')).expectEvents([]))

  test('a device whose seat a remint freed changes nothing', () =>
    given(minted(), activated('laptop'), reminted(false)).when(deactivate('laptop')).expectEvents([]))

  test.each<[string, LicenseEvent[]]>([
    ['revoked', [minted(), activated('laptop'), revoked]],
    ['expired', [minted(), activated('laptop'), expired]],
    ['fallen back', [fallback, activated('laptop'), fellBack]],
  ])('works on a license that is %s', (_, history) =>
    given(...history)
      .when(deactivate('laptop'))
      .expectEvents([deactivated('laptop', later)]),
  )
})

describe('reminting', () => {
  test.each(everyState.filter(([state]) => state !== 'revoked'))(
    'a license that is %s gets a new key',
    (_, history) =>
      given(...history)
        .when(remint)
        .expectEvents([{ type: 'LicenseReminted', data: newKey }]),
  )

  test('a revoked license is refused', () =>
    given(minted(), revoked).when(remint).expectRefusal('license_revoked'))
})

describe('revoking', () => {
  test.each(everyState.filter(([state]) => state !== 'revoked'))(
    'a license that is %s is revoked, with the reason',
    (_, history) =>
      given(...history)
        .when(revoke)
        .expectEvents([
          { type: 'LicenseRevoked', data: { reason: 'chargeback', cause: 'person', at: later } },
        ]),
  )

  test('a revoked license is refused', () =>
    given(minted(), revoked).when(revoke).expectRefusal('license_revoked'))
})

describe('renewing', () => {
  const recorded: LicenseEvent = { type: 'LicenseRenewed', data: { expiresAt: nextEnd, at: later } }

  test.each<[string, LicenseEvent[]]>([
    ['active', [minted()]],
    ['expired', [minted(), expired]],
    ['fallen back', [fallback, fellBack]],
  ])('a license that is %s gets a later end', (_, history) =>
    given(...history)
      .when(renew(nextEnd))
      .expectEvents([recorded]),
  )

  test.each([
    ['the end that it has', nextEnd],
    ['an older end', end],
  ])('a notification that says %s changes nothing, since they come late and out of order', (_, expiresAt) =>
    given(minted(), renewed).when(renew(expiresAt)).expectEvents([]),
  )

  test('a perpetual license is refused', () =>
    given(perpetual).when(renew(nextEnd)).expectRefusal('license_perpetual'))
  test('a revoked license is refused', () =>
    given(minted(), revoked).when(renew(nextEnd)).expectRefusal('license_revoked'))
})

describe('the end of a paid period', () => {
  test('is recorded from the expiry second on, and not a millisecond before', () => {
    given(minted()).when(endPeriod('2026-04-01T11:59:59.999Z')).expectEvents([])
    given(minted())
      .when(endPeriod(end))
      .expectEvents([{ type: 'LicenseExpired', data: { expiresAt: end, at: end } }])
  })

  test('is a fallback if the key type says so', () =>
    given(fallback)
      .when(endPeriod(afterEnd))
      .expectEvents([{ type: 'LicenseFellBack', data: { expiresAt: end, at: afterEnd } }]))

  test('is recorded once', () => {
    given(minted(), expired).when(endPeriod(nextEnd)).expectEvents([])
    given(fallback, fellBack).when(endPeriod(nextEnd)).expectEvents([])
  })

  test('is recorded again for the period that a renewal added', () =>
    given(minted(), expired, renewed)
      .when(endPeriod(nextEnd))
      .expectEvents([{ type: 'LicenseExpired', data: { expiresAt: nextEnd, at: nextEnd } }]))

  test('does not come while the renewed period runs', () =>
    given(minted(), renewed).when(endPeriod(afterEnd)).expectEvents([]))

  test('never comes for a perpetual license, nor for a revoked one', () => {
    given(perpetual).when(endPeriod(nextEnd)).expectEvents([])
    given(minted(), revoked).when(endPeriod(nextEnd)).expectEvents([])
  })
})
