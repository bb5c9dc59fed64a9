/**
 * A vendor changes, suspends and resumes a license. What the vendor gave stays until the sale itself entitles to
 * something else, and a payment never shortens it.
 */
import { describe, expect, test } from 'vitest'
import type { LicenseEvent, SoldTerms } from '../../../src/domain/licenses/events.ts'
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
  device,
  end,
  expired,
  followSale,
  later,
  minted,
  nextEnd,
  renewed,
  revoked,
} from './license-samples.ts'

const given = givenOn({ initial: absentLicense, decide: decideLicense, evolve: evolveLicense })

const longAfter = '2027-01-01T00:00:00.000Z'
type Edit = Extract<LicenseCommand, { type: 'EditLicense' }>['edit']
const edit = (own: Edit, moment = later): LicenseCommand => ({
  type: 'EditLicense',
  edit: own,
  reason: 'a favor',
  at: moment,
})
const edited = (own: object, sold: SoldTerms | null = null): LicenseEvent => ({
  type: 'LicenseEdited',
  data: {
    keyTypeId: 'pro',
    quantity: 1,
    deviceLimit: 1,
    onExpiry: 'expire',
    expiresAt: end,
    holder: null,
    metadata: {},
    ...own,
    sold,
    reason: 'a favor',
    at: later,
  },
})
const ada = { subjectId: 'sub_1', email: 'sealed.1.a.b', name: null }

describe('an edit', () => {
  test('holds everything that a vendor can change, and keeps what is left out', () => {
    given(minted())
      .when(edit({ expiresAt: nextEnd }))
      .expectEvents([edited({ expiresAt: nextEnd })])
    given(minted(), edited({ expiresAt: nextEnd }))
      .when(edit({ holder: ada, metadata: { order: '1' } }))
      .expectEvents([edited({ expiresAt: nextEnd, holder: ada, metadata: { order: '1' } })])
    given(minted())
      .when(
        edit({
          plan: { keyTypeId: 'team', quantity: 3, onExpiry: 'fallback' },
          deviceLimit: null,
          expiresAt: null,
        }),
      )
      .expectEvents([
        edited({ keyTypeId: 'team', quantity: 3, onExpiry: 'fallback', deviceLimit: null, expiresAt: null }),
      ])
  })

  test('of the present values changes nothing, even where the expiry has passed', () => {
    given(minted())
      .when(edit({ expiresAt: end, deviceLimit: 1, metadata: {} }, afterEnd))
      .expectEvents([])
    given(minted({ holder: ada }))
      .when(edit({}))
      .expectEvents([])
  })

  test('ends in the future, and needs a license that is not revoked', () => {
    given(minted())
      .when(edit({ expiresAt: at }))
      .expectRefusal('expiry_in_the_past')
    given(minted())
      .when(edit({ expiresAt: later }))
      .expectRefusal('expiry_in_the_past')
    given(minted(), revoked)
      .when(edit({ expiresAt: nextEnd }))
      .expectRefusal('license_revoked')
  })

  test('to fewer seats than are in use lowers the limit and frees none', () => {
    const full = [minted({ deviceLimit: 2 }), activated('laptop'), activated('desktop')]
    given(...full)
      .when(edit({ deviceLimit: 1 }))
      .expectEvents([edited({ deviceLimit: 1 })])
    const license = [...full, edited({ deviceLimit: 1 })].reduce(evolveLicense, absentLicense)
    expect(license).toMatchObject({ deviceLimit: 1, seatsUsed: 2 })
  })

  test('of the expiry makes an expired license active, and its new end is recorded again', () => {
    given(minted(), expired, edited({ expiresAt: nextEnd }))
      .when({ type: 'ActivateDevice', ...device('laptop'), at: afterEnd })
      .expectEvents([activated('laptop', afterEnd)])
    given(minted(), expired, edited({ expiresAt: nextEnd }))
      .when({ type: 'EndPaidPeriod', at: nextEnd })
      .expectEvents([{ type: 'LicenseExpired', data: { expiresAt: nextEnd, at: nextEnd } }])
  })
})

const suspend: LicenseCommand = { type: 'SuspendLicense', reason: 'unpaid', at: later }
const resume: LicenseCommand = { type: 'ResumeLicense', reason: null, at: later }
const suspended: LicenseEvent = { type: 'LicenseSuspended', data: { reason: 'unpaid', at: later } }
const resumed: LicenseEvent = { type: 'LicenseResumed', data: { reason: null, at: later } }

describe('a suspension', () => {
  test('is recorded once, and ended once', () => {
    given(minted()).when(suspend).expectEvents([suspended])
    given(minted(), suspended).when(suspend).expectEvents([])
    given(minted(), suspended).when(resume).expectEvents([resumed])
    given(minted(), suspended, resumed).when(resume).expectEvents([])
    given(minted(), revoked).when(suspend).expectRefusal('license_revoked')
    given(minted(), suspended, revoked).when(resume).expectRefusal('license_revoked')
  })

  test('gives no seats, also to a device that has one, and lets devices go', () => {
    for (const history of [
      [minted(), suspended],
      [minted(), activated('laptop'), suspended],
    ]) {
      given(...history)
        .when({ type: 'ActivateDevice', ...device('laptop'), at: later })
        .expectRefusal('license_suspended')
    }
    given(minted(), activated('laptop'), suspended)
      .when({ type: 'DeactivateDevice', deviceId: 'laptop', at: later })
      .expectEvents([
        { type: 'DeviceDeactivated', data: { deviceId: 'laptop', instanceId: 'ins_laptop', at: later } },
      ])
  })

  test('does not stop the clock: the expiry is recorded, and a resumed license has expired', () => {
    given(minted(), suspended)
      .when({ type: 'EndPaidPeriod', at: end })
      .expectEvents([{ type: 'LicenseExpired', data: { expiresAt: end, at: end } }])
    given(minted(), suspended, resumed)
      .when({ type: 'ActivateDevice', ...device('laptop'), at: afterEnd })
      .expectRefusal('license_expired')
  })

  test('outlasts a revocation that is undone', () =>
    given(minted(), suspended, revoked, { type: 'RevocationUndone', data: { reason: null, at } })
      .when({ type: 'ActivateDevice', ...device('laptop'), at: later })
      .expectRefusal('license_suspended'))
})

const sold = { keyTypeId: 'pro', quantity: 1, expiresAt: end }
const sale = minted({ source: 'sale', saleId: 'cs_1' })
const followed = (own: Partial<SoldTerms> = {}, through = 1): LicenseEvent => ({
  type: 'SaleFollowed',
  data: { saleId: 'cs_1', through, sold: { ...sold, ...own }, at: later },
})
const termsChanged = (own: object): LicenseEvent => {
  const {
    holder: _,
    metadata: __,
    sold: ___,
    reason: ____,
    ...terms
  } = edited(own).data as Record<string, unknown>
  return { type: 'LicenseTermsChanged', data: { saleId: 'cs_1', ...terms } } as LicenseEvent
}
const pro = { keyTypeId: 'pro', quantity: 1, deviceLimit: 1, onExpiry: 'expire' as const }
const team = { keyTypeId: 'team', quantity: 3, deviceLimit: 15, onExpiry: 'expire' as const }

describe('an edited license whose sale', () => {
  test('records what the sale entitled to with the edit', () =>
    given(sale)
      .when(edit({ expiresAt: longAfter }))
      .expectEvents([edited({ expiresAt: longAfter }, sold)]))

  test('entitles to the same as before keeps what its vendor gave it', () => {
    const given1 = given(sale, edited({ ...team, expiresAt: longAfter }, sold))
    given1.when(followSale({ expiresAt: end, terms: pro })).expectEvents([followed()])
    given1.when(followSale({})).expectEvents([followed()])
  })

  test('ends at the end that it had keeps an extension', () =>
    given(sale, edited({ expiresAt: longAfter }, sold))
      .when(followSale({ expiresAt: end, hasEnded: true }))
      .expectEvents([followed()]))

  test('is renewed gets the longer of both', () => {
    const renewal = followSale({ expiresAt: nextEnd, isRenewed: true })
    given(sale, edited({ expiresAt: longAfter }, sold))
      .when(renewal)
      .expectEvents([followed({ expiresAt: nextEnd })])
    given(sale, edited({ expiresAt: null }, sold))
      .when(renewal)
      .expectEvents([followed({ expiresAt: nextEnd })])
    given(sale, edited({ expiresAt: afterEnd }, sold))
      .when(renewal)
      .expectEvents([renewed, followed({ expiresAt: nextEnd })])
  })

  test('loses a period expires when the sale says', () =>
    given(
      sale,
      renewed,
      followed({ expiresAt: nextEnd }),
      edited({ expiresAt: longAfter }, { ...sold, expiresAt: nextEnd }),
    )
      .when(followSale({ through: 2, expiresAt: end, isRenewed: true }))
      .expectEvents([termsChanged({ expiresAt: end }), followed({}, 2)]))

  test('changes its plan gets the new plan, and keeps the expiry of its vendor', () => {
    const history = [sale, edited({ deviceLimit: 9, expiresAt: longAfter }, sold)]
    const plan = { keyTypeId: 'team', quantity: 3 }
    given(...history)
      .when(followSale({ terms: team }))
      .expectEvents([termsChanged({ ...team, expiresAt: longAfter }), followed(plan)])
    given(...history, termsChanged({ ...team, expiresAt: longAfter }), followed(plan))
      .when(followSale({ through: 2, terms: team, expiresAt: end }))
      .expectEvents([followed(plan, 2)])
  })
})

test('a sale that was followed before vendors could edit entitles to the terms of its license', () => {
  const before = [
    sale,
    renewed,
    { type: 'SaleFollowed', data: { saleId: 'cs_1', through: 1, sold: null, at } },
  ] as const
  given(...before)
    .when(edit({ expiresAt: longAfter }))
    .expectEvents([edited({ expiresAt: longAfter }, { ...sold, expiresAt: nextEnd })])
  given(...before)
    .when(followSale({ through: 2, expiresAt: nextEnd, isRenewed: true }))
    .expectEvents([followed({ expiresAt: nextEnd }, 2)])
})

test('a reason is recorded with the change that it is for, and not without one', () => {
  const why: LicenseEvent = { type: 'ReasonGiven', data: { reason: 'lost laptop', at: later } }
  const free = { type: 'DeactivateDevice', deviceId: 'laptop', reason: 'lost laptop', at: later } as const
  const left = { deviceId: 'laptop', instanceId: 'ins_laptop', at: later }
  given(minted(), activated('laptop'))
    .when(free)
    .expectEvents([{ type: 'DeviceDeactivated', data: left }, why])
  given(minted()).when(free).expectEvents([])
  given(minted())
    .when({ type: 'LinkCustomer', customerId: 'cus_1', reason: 'lost laptop', at: later })
    .expectEvents([{ type: 'CustomerLinked', data: { customerId: 'cus_1', at: later } }, why])
  const key = { keyHash: 'b'.repeat(64), displayKey: 'ACME…8888', keepDevices: true, at: later }
  given(minted())
    .when({ type: 'RemintLicense', ...key, reason: 'lost laptop' })
    .expectEvents([{ type: 'LicenseReminted', data: key }, why])
})
