/**
 * A revocation and an import are undone by a new event where that is safe, and a device gets its former seat
 * back.
 */
import { describe, expect, test } from 'vitest'
import type { LicenseEvent } from '../../../src/domain/licenses/events.ts'
import {
  absentLicense,
  decideLicense,
  evolveLicense,
  type LicenseCommand,
} from '../../../src/domain/licenses/license.ts'
import { givenOn } from '../given.ts'
import { later, minted, terms } from './license-samples.ts'

const given = givenOn({ initial: absentLicense, decide: decideLicense, evolve: evolveLicense })

const at = later
const device = { deviceId: 'laptop', instanceId: 'ins_1', installId: null, name: 'Laptop', platform: 'macOS' }
const seated: LicenseEvent = { type: 'DeviceActivated', data: { ...device, at: terms.at } }
const left: LicenseEvent = {
  type: 'DeviceDeactivated',
  data: { deviceId: 'laptop', instanceId: 'ins_1', at: terms.at },
}
const revoked: LicenseEvent = {
  type: 'LicenseRevoked',
  data: { reason: 'by mistake', cause: 'person', at: terms.at },
}
const imported: LicenseEvent = { type: 'LicenseImported', data: { ...terms, source: 'import' } }
const refunded: LicenseEvent = {
  type: 'LicenseRefunded',
  data: {
    saleId: 'cs_1',
    payment: 'first',
    cause: 'refund',
    amount: 1,
    totalRefunded: 1,
    currency: 'usd',
    paidLeft: false,
    at: terms.at,
  },
}

describe('reinstating', () => {
  const reinstate: LicenseCommand = { type: 'UndoRevocation', reason: null, keyTypeIsThere: true, at }
  const reinstated: LicenseEvent = { type: 'RevocationUndone', data: { reason: null, at } }

  test('undoes a revocation, once', () => {
    given(minted(), revoked).when(reinstate).expectEvents([reinstated])
    given(minted(), revoked, reinstated).when(reinstate).expectEvents([])
    given(minted()).when(reinstate).expectEvents([])
  })

  test('is refused when the key type was deleted, unless there is nothing to undo', () => {
    const withoutKeyType = { ...reinstate, keyTypeIsThere: false }
    given(minted(), revoked).when(withoutKeyType).expectRefusal('license_key_type_gone')
    given(minted()).when(withoutKeyType).expectEvents([])
  })

  test('leaves everything else as it was', () =>
    expect([minted(), seated, revoked, reinstated].reduce(evolveLicense, absentLicense)).toStrictEqual(
      [minted(), seated].reduce(evolveLicense, absentLicense),
    ))

  test('is refused while no payment is left', () =>
    given(minted(), refunded, revoked).when(reinstate).expectRefusal('license_refunded'))

  test('is refused for an absent license', () => given().when(reinstate).expectRefusal('license_not_found'))
})

describe('reseating a device', () => {
  const reseat: LicenseCommand = { type: 'ReseatDevice', deviceId: 'laptop', at }

  test('gives the device its former seat', () => {
    given(minted(), seated, left)
      .when(reseat)
      .expectEvents([{ type: 'DeviceActivated', data: { ...device, at } }])
    given(minted(), seated).when(reseat).expectEvents([])
  })

  test('is refused for a device that never had a seat, beyond the limit, and on a revoked license', () => {
    given(minted()).when(reseat).expectRefusal('device_not_found')
    given(minted({ deviceLimit: 1 }), seated, left, {
      type: 'DeviceActivated',
      data: { ...device, deviceId: 'other', at },
    })
      .when(reseat)
      .expectRefusal('seat_limit_reached')
    given(minted(), seated, left, revoked).when(reseat).expectRefusal('license_revoked')
  })
})

describe('undoing an import', () => {
  const takeBack = (used: boolean): LicenseCommand => ({ type: 'TakeBackImport', reason: null, used, at })
  const takenBack: LicenseEvent = { type: 'ImportTakenBack', data: { reason: null, at } }

  test('is recorded once, and frees the seats', () => {
    given(imported, seated).when(takeBack(false)).expectEvents([takenBack])
    given(imported, seated, takenBack).when(takeBack(false)).expectEvents([])
    const license = [imported, seated, takenBack].reduce(evolveLicense, absentLicense)
    expect(license).toMatchObject({ seatsUsed: 0, revokedAt: at, takenBackAt: at })
  })

  test('is refused once it is used or revoked, and of what was not imported', () => {
    given(imported).when(takeBack(true)).expectRefusal('license_used')
    given(imported, revoked).when(takeBack(false)).expectRefusal('license_revoked')
    given(minted()).when(takeBack(false)).expectRefusal('license_not_imported')
  })

  test('is not undone', () =>
    given(imported, takenBack)
      .when({ type: 'UndoRevocation', reason: null, keyTypeIsThere: true, at })
      .expectRefusal('import_taken_back'))
})
