/**
 * A term that waits starts with the first activation and never again. An end that is given otherwise, by the vendor or by a
 * paid period, takes its place.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { LicenseEvent, SoldTerms } from '../../../src/domain/licenses/events.ts'
import { expiryAfter } from '../../../src/domain/licenses/expiry.ts'
import { termsFrom, termsOf, termsPaidFor } from '../../../src/domain/licenses/issue.ts'
import {
  absentLicense,
  decideLicense,
  evolveLicense,
  type License,
  type LicenseCommand,
} from '../../../src/domain/licenses/license.ts'
import { statusAt } from '../../../src/domain/licenses/status.ts'
import { defaultKeyType, type KeyType } from '../../../src/domain/products/key-type.ts'
import { givenOn } from '../given.ts'
import {
  activated,
  afterEnd,
  at,
  commands,
  type DeviceId,
  deactivated,
  device,
  followSale,
  later,
  minted,
  nextEnd,
} from './license-samples.ts'

const given = givenOn({ initial: absentLicense, decide: decideLicense, evolve: evolveLicense })

const month = { count: 1, unit: 'month' } as const
const waiting = minted({ expiresAt: null, startsWith: month, deviceLimit: 2 })
const startedAt = (moment: string, sold: SoldTerms | null = null): LicenseEvent => ({
  type: 'LicenseStarted',
  data: { expiresAt: expiryAfter(moment, month), sold, at: moment },
})
/** What the sale of a waiting license entitles to. */
const soldOnce: SoldTerms = { keyTypeId: 'pro', quantity: 1, expiresAt: null, startsWith: month }
const sold = minted({ expiresAt: null, startsWith: month, deviceLimit: 2, saleId: 'cs_1', source: 'sale' })
const activate = (deviceId: DeviceId, moment = later): LicenseCommand => ({
  type: 'ActivateDevice',
  ...device(deviceId),
  at: moment,
})
const activateApp: LicenseCommand = {
  type: 'ActivateInstance',
  instanceId: 'ins_laptop',
  platform: 'linux',
  claim: { instanceId: null, installId: null, name: 'The laptop', identities: [] },
  atLeast: null,
  at: later,
}
const activatedBy = ({ type }: LicenseCommand): LicenseEvent => {
  const ofApp = { deviceId: 'ins_laptop', name: 'The laptop' }
  const seat = { ...device('laptop'), ...(type === 'ActivateInstance' && ofApp), at: later }
  return { type: 'DeviceActivated', data: seat }
}
const edit = (change: Extract<LicenseCommand, { type: 'EditLicense' }>['edit']): LicenseCommand => ({
  type: 'EditLicense',
  edit: change,
  reason: null,
  at: later,
})
const own = {
  keyTypeId: 'pro',
  quantity: 1,
  deviceLimit: 2,
  onExpiry: 'expire',
  holder: null,
  metadata: {},
} as const
const edited = (change: object, entitled: SoldTerms | null = null): LicenseEvent => ({
  type: 'LicenseEdited',
  data: { ...own, expiresAt: null, ...change, sold: entitled, reason: null, at: later },
})
/** @param term of the sold terms, over those of the key type */
const followed = (term: object, through = 1): LicenseEvent => ({
  type: 'SaleFollowed',
  data: {
    saleId: 'cs_1',
    through,
    sold: { keyTypeId: 'pro', quantity: 1, expiresAt: null, ...term },
    at: later,
  },
})
const changedTo = (term: object): LicenseEvent => {
  const { holder: _, metadata: __, ...plan } = own
  return {
    type: 'LicenseTermsChanged',
    data: { saleId: 'cs_1', ...plan, expiresAt: null, ...term, at: later },
  }
}
const stateAfter = (...events: LicenseEvent[]): License => events.reduce(evolveLicense, absentLicense)
const termAfter = (...events: LicenseEvent[]) => {
  const license = stateAfter(...events)
  if (license.status === 'absent') throw new Error('no license')
  const { expiresAt, startsWith } = license
  return { expiresAt, startsWith, status: statusAt(license, nextEnd) }
}

describe('the terms of a key type whose duration starts at the first activation', () => {
  const monthly: KeyType = { ...defaultKeyType, duration: month, startsAt: 'first_activation' }
  const issued = { quantity: 1, deviceLimit: 1 }

  test('wait without an end', () =>
    expect(termsOf(monthly, {}, at)).toStrictEqual({ ...issued, expiresAt: null, startsWith: month }))

  test.each([null, nextEnd])('are those of an explicit expiry: %s', (expiresAt) =>
    expect(termsOf(monthly, { expiresAt }, at)).toStrictEqual({ ...issued, expiresAt }),
  )

  test('count from the issue in the other system for an imported license', () =>
    expect(termsFrom(monthly, {}, at)).toStrictEqual({ ...issued, expiresAt: expiryAfter(at, month) }))

  test('wait for a purchase, and not for a subscription, which is paid by periods', () => {
    const paid = { quantity: 1, paidUntil: null }
    expect(termsPaidFor(monthly, { ...paid, isSubscription: false }, at)).toStrictEqual({
      ...issued,
      expiresAt: null,
      startsWith: month,
    })
    for (const paidUntil of [null, later]) {
      expect(termsPaidFor(monthly, { ...paid, paidUntil, isSubscription: true }, at)).toStrictEqual({
        ...issued,
        expiresAt: expiryAfter(at, month),
      })
    }
  })
})

describe('a waiting license', () => {
  test('is active without an end', () =>
    expect(termAfter(waiting)).toStrictEqual({ expiresAt: null, startsWith: month, status: 'active' }))

  test.each([
    ['a server', activate('laptop')],
    ['an app', activateApp],
  ] as const)('starts with its first activation by %s, in one append', (_, command) =>
    given(waiting)
      .when(command)
      .expectEvents([activatedBy(command), startedAt(later)]),
  )

  test('does not start again', () => {
    const running = [waiting, activated('laptop'), startedAt(at)]
    given(...running)
      .when(activate('phone'))
      .expectEvents([activated('phone', later)])
    given(...running, deactivated('laptop'))
      .when(activate('laptop'))
      .expectEvents([activated('laptop', later)])
    expect(termAfter(...running)).toStrictEqual({
      expiresAt: expiryAfter(at, month),
      startsWith: null,
      status: 'expired',
    })
  })

  test('does not start with an activation that is refused', () => {
    const suspended: LicenseEvent = { type: 'LicenseSuspended', data: { reason: null, at } }
    given(waiting, suspended).when(activate('laptop')).expectRefusal('license_suspended')
  })

  test('has no end that could be recorded', () =>
    given(waiting).when({ type: 'EndPaidPeriod', at: afterEnd }).expectEvents([]))

  test('gets the end of a renewal instead', () => {
    const renewed: LicenseEvent = { type: 'LicenseRenewed', data: { expiresAt: nextEnd, at: later } }
    given(waiting).when({ type: 'RenewLicense', expiresAt: nextEnd, at: later }).expectEvents([renewed])
    given(waiting, renewed)
      .when(activate('laptop'))
      .expectEvents([activated('laptop', later)])
  })

  test('keeps waiting while its vendor changes something else, also its key type', () => {
    given(waiting)
      .when(edit({ metadata: { order: '1' } }))
      .expectEvents([edited({ startsWith: month, metadata: { order: '1' } })])
    const team = { keyTypeId: 'team', quantity: 2, onExpiry: 'expire' } as const
    given(waiting)
      .when(edit({ plan: team }))
      .expectEvents([edited({ ...team, startsWith: month })])
    expect(termAfter(waiting, edited({ startsWith: month }))).toMatchObject({ startsWith: month })
  })

  test.each([null, nextEnd])('gets the expiry that its vendor sets instead: %s', (expiresAt) => {
    given(waiting)
      .when(edit({ expiresAt }))
      .expectEvents([edited({ expiresAt })])
    expect(termAfter(waiting, edited({ expiresAt }))).toMatchObject({ expiresAt, startsWith: null })
  })

  test('keeps waiting when its key is replaced, and starts once', () =>
    given(waiting, {
      type: 'LicenseReminted',
      data: { keyHash: 'b'.repeat(64), displayKey: 'ACME…8888', keepDevices: false, at },
    })
      .when(activate('laptop'))
      .expectEvents([activated('laptop', later), startedAt(later)]))
})

describe('a waiting license of a sale', () => {
  test('keeps waiting while its sale says nothing of a period', () => {
    given(sold)
      .when(followSale({}))
      .expectEvents([followed({ expiresAt: null, startsWith: month })])
    given(
      sold,
      followed({ expiresAt: null, startsWith: month }),
      activated('laptop'),
      startedAt(at, soldOnce),
    )
      .when(followSale({ through: 2 }))
      .expectEvents([followed({ expiresAt: null, startsWith: month }, 2)])
  })

  test('gets the end of a paid period that becomes known later', () =>
    given(sold)
      .when(followSale({ expiresAt: nextEnd }))
      .expectEvents([changedTo({ expiresAt: nextEnd }), followed({ expiresAt: nextEnd })]))

  test('gets the end of its subscription', () =>
    given(sold)
      .when(followSale({ expiresAt: nextEnd, hasEnded: true }))
      .expectEvents([
        { type: 'SubscriptionEnded', data: { expiresAt: nextEnd, at: later } },
        followed({ expiresAt: nextEnd }),
      ]))

  test('stays for good without waiting once all installments are paid', () =>
    given(sold)
      .when(followSale({ expiresAt: null }))
      .expectEvents([changedTo({}), followed({ expiresAt: null })]))

  test('keeps waiting under another plan', () => {
    const team = { keyTypeId: 'team', quantity: 3, deviceLimit: 15, onExpiry: 'expire' } as const
    given(sold)
      .when(followSale({ terms: team }))
      .expectEvents([
        changedTo({ ...team, startsWith: month }),
        followed({ keyTypeId: 'team', quantity: 3, expiresAt: null, startsWith: month }),
      ])
  })

  test('starts with what its sale entitles to', () =>
    given(sold)
      .when(activate('laptop'))
      .expectEvents([activated('laptop', later), startedAt(later, soldOnce)]))

  test('that has started is not shortened by the first payment of a period', () =>
    given(sold, activated('laptop'), startedAt(later, soldOnce))
      .when(followSale({ expiresAt: later }))
      .expectEvents([followed({ expiresAt: later })]))

  test('keeps an end that its vendor gave, and that is later than the paid period', () =>
    given(sold, followed({ expiresAt: null, startsWith: month }), edited({ expiresAt: nextEnd }, soldOnce))
      .when(followSale({ through: 2, expiresAt: afterEnd }))
      .expectEvents([followed({ expiresAt: afterEnd }, 2)]))
})

test('whatever happens to a waiting license, it starts once at most, and with a first activation', () => {
  fc.assert(
    fc.property(fc.array(commands, { maxLength: 30 }), (all) => {
      let license = stateAfter(waiting)
      const starts: LicenseEvent[][] = []
      for (const command of all) {
        const events = decided(license, command)
        if (events.some(({ type }) => type === 'LicenseStarted')) starts.push(events)
        license = events.reduce(evolveLicense, license)
      }
      expect(starts.length).toBeLessThanOrEqual(1)
      for (const events of starts) expect(events.map(({ type }) => type)).toContain('DeviceActivated')
      const isWaiting = license.status === 'issued' && license.startsWith !== null
      if (isWaiting) expect(license).toMatchObject({ expiresAt: null, seatsUsed: 0 })
    }),
    { numRuns: 500 },
  )
})

function decided(license: License, command: LicenseCommand): LicenseEvent[] {
  try {
    return decideLicense(license, command)
  } catch {
    return []
  }
}
