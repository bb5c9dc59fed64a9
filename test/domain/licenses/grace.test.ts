/**
 * A license with a grace stays active after its expiry until the grace is over. Its end is recorded then, once; without a
 * grace nothing differs.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { LicenseEvent } from '../../../src/domain/licenses/events.ts'
import { endOf, graceUntilAt } from '../../../src/domain/licenses/grace.ts'
import { termsFrom, termsOf, termsPaidFor } from '../../../src/domain/licenses/issue.ts'
import { absentLicense, decideLicense, evolveLicense } from '../../../src/domain/licenses/license.ts'
import { statusAt } from '../../../src/domain/licenses/status.ts'
import { defaultKeyType } from '../../../src/domain/products/key-type.ts'
import { leaseTimes } from '../../../src/signing/lease.ts'
import { givenOn } from '../given.ts'
import { activated, at, device, end, later, minted, nextEnd } from './license-samples.ts'

const given = givenOn({ initial: absentLicense, decide: decideLicense, evolve: evolveLicense })

const day = 86_400
const graceSeconds = 7 * day
/** A week after {@link end}. */
const graceEnd = '2026-04-08T12:00:00.000Z'
const within = '2026-04-08T11:59:59.999Z'
const timed = {
  expiresAt: end,
  graceSeconds,
  onExpiry: 'expire',
  revokedAt: null,
  suspendedAt: null,
} as const
const withGrace = minted({ graceSeconds })

describe('a license with a grace', () => {
  test.each([
    ['2026-04-01T11:59:59.999Z', 'active', null],
    [end, 'active', graceEnd],
    [within, 'active', graceEnd],
    [graceEnd, 'expired', graceEnd],
  ])('at %s is %s, with a grace until %s', (now, status, until) => {
    expect(statusAt(timed, now)).toBe(status)
    expect(statusAt({ ...timed, onExpiry: 'fallback' }, now)).toBe(status === 'expired' ? 'fallback' : status)
    expect(graceUntilAt(timed, now)).toBe(until)
  })

  test('gives seats while that lasts', () => {
    given(withGrace)
      .when({ type: 'ActivateDevice', ...device('laptop'), at: within })
      .expectEvents([activated('laptop', within)])
    given(withGrace)
      .when({ type: 'ActivateDevice', ...device('laptop'), at: graceEnd })
      .expectRefusal('license_expired')
  })

  test.each([
    ['expire', 'LicenseExpired'],
    ['fallback', 'LicenseFellBack'],
  ] as const)('that may %s has its end recorded when the grace is over, once', (onExpiry, type) => {
    const license = minted({ graceSeconds, onExpiry })
    const ended: LicenseEvent = { type, data: { expiresAt: end, graceUntil: graceEnd, at: graceEnd } }
    for (const moment of [end, within])
      given(license).when({ type: 'EndPaidPeriod', at: moment }).expectEvents([])
    given(license).when({ type: 'EndPaidPeriod', at: graceEnd }).expectEvents([ended])
    given(license, ended).when({ type: 'EndPaidPeriod', at: nextEnd }).expectEvents([])
  })

  test('that is renewed within it goes on, with another grace after the new expiry', () => {
    const renewed: LicenseEvent = { type: 'LicenseRenewed', data: { expiresAt: nextEnd, at: within } }
    given(withGrace).when({ type: 'RenewLicense', expiresAt: nextEnd, at: within }).expectEvents([renewed])
    given(withGrace, renewed).when({ type: 'EndPaidPeriod', at: graceEnd }).expectEvents([])
  })

  test('gets that of another key type, or none, when its vendor or its sale changes it', () => {
    const plan = { keyTypeId: 'team', quantity: 1, onExpiry: 'expire' } as const
    const own = { deviceLimit: 1, expiresAt: end, at: later }
    for (const [after, recorded] of [
      [{ graceSeconds: 60 }, { graceSeconds: 60 }],
      [{}, {}],
    ]) {
      given(withGrace)
        .when({ type: 'EditLicense', edit: { plan: { ...plan, ...after } }, reason: null, at: later })
        .expectEvents([
          {
            type: 'LicenseEdited',
            data: { ...plan, ...own, ...recorded, holder: null, metadata: {}, sold: null, reason: null },
          },
        ])
      const desired = {
        refunded: [],
        unpaid: null,
        keepRefunded: false,
        expiresAt: undefined,
        isRenewed: false,
      }
      given(withGrace)
        .when({
          ...{ type: 'FollowSale', saleId: 'cs_1', through: 1, hasEnded: false, at: later },
          ...{ ...desired, terms: { ...plan, deviceLimit: 1, ...after } },
        })
        .expectEvents([
          { type: 'LicenseTermsChanged', data: { ...plan, ...own, ...recorded, saleId: 'cs_1' } },
          {
            type: 'SaleFollowed',
            data: {
              saleId: 'cs_1',
              through: 1,
              sold: { keyTypeId: 'team', quantity: 1, expiresAt: end },
              at: later,
            },
          },
        ])
    }
  })

  test('whose grace becomes longer after its end is active again, and has the new end recorded', () => {
    const ended: LicenseEvent = { type: 'LicenseExpired', data: { expiresAt: end, at: end } }
    const edited: LicenseEvent = {
      type: 'LicenseEdited',
      data: {
        keyTypeId: 'team',
        quantity: 1,
        deviceLimit: 1,
        onExpiry: 'expire',
        graceSeconds,
        expiresAt: end,
        holder: null,
        metadata: {},
        sold: null,
        reason: null,
        at: end,
      },
    }
    given(minted(), ended, edited).when({ type: 'EndPaidPeriod', at: within }).expectEvents([])
    given(minted(), ended, edited)
      .when({ type: 'EndPaidPeriod', at: graceEnd })
      .expectEvents([
        { type: 'LicenseExpired', data: { expiresAt: end, graceUntil: graceEnd, at: graceEnd } },
      ])
  })

  test('is copied from its key type at the issue, however it is issued', () => {
    const keyType = { ...defaultKeyType, duration: { count: 1, unit: 'day' as const }, graceSeconds }
    const paid = { quantity: 1, paidUntil: null }
    for (const terms of [
      termsOf(keyType, {}, at),
      termsFrom(keyType, {}, at),
      termsPaidFor(keyType, { ...paid, isSubscription: true }, at),
      termsPaidFor(keyType, { ...paid, isSubscription: false }, at),
    ])
      expect(terms).toMatchObject({ graceSeconds })
    expect(termsOf({ ...keyType, graceSeconds: undefined }, {}, at)).not.toHaveProperty('graceSeconds')
  })
})

test('a lease ends with the grace, except where the license goes on after it', () => {
  const facts = {
    ...{ tenantId: 'acme', productId: 'editor', keyHash: '', instanceId: 'ins_1', entitlements: [] },
    status: 'active' as const,
    leaseSeconds: 30 * day,
  }
  const seconds = (moment: string) => Date.parse(moment) / 1000
  const endOfLease = (license: Parameters<typeof leaseTimes>[0]['license'], now: string) =>
    leaseTimes({ ...facts, license }, now).expires
  const soon = '2026-03-30T12:00:00.000Z'
  expect(endOfLease(timed, soon)).toBe(seconds(graceEnd))
  expect(endOfLease(timed, within)).toBe(seconds(graceEnd))
  expect(endOfLease({ ...timed, graceSeconds: null }, soon)).toBe(seconds(end))
  expect(endOfLease({ ...timed, onExpiry: 'fallback' }, soon)).toBe(seconds(soon) + 30 * day)
})

test('the end is never before the expiry, and a moment that the log can write', () => {
  const moments = fc.date({ min: new Date(0), max: new Date('9999-12-31T23:59:59Z'), noInvalidDate: true })
  fc.assert(
    fc.property(moments, fc.option(fc.integer({ min: 0, max: 366 * day })), (date, grace) => {
      date.setUTCMilliseconds(0)
      const expiresAt = date.toISOString()
      const ended = endOf({ expiresAt, graceSeconds: grace }) ?? ''
      expect(ended >= expiresAt).toBe(true)
      expect(ended).toMatch(/^\d{4}-/)
      const lasted = (Date.parse(ended) - date.getTime()) / 1000
      expect(lasted === (grace ?? 0) || ended === '9999-12-31T23:59:59.000Z').toBe(true)
    }),
  )
})
