/**
 * Guarantee: a license covers the builds of its period of updates for ever; a later payment extends the period once, never
 * shortens it, and replaying the events gives the same.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { slotOf } from '../../../src/domain/licenses/event-traits.ts'
import type { LicenseEvent } from '../../../src/domain/licenses/events.ts'
import { expiryAfter } from '../../../src/domain/licenses/expiry.ts'
import type { DesiredState } from '../../../src/domain/licenses/following.ts'
import { termsFrom, termsOf, termsPaidFor } from '../../../src/domain/licenses/issue.ts'
import {
  absentLicense,
  decideLicense,
  evolveLicense,
  type License,
  type LicenseCommand,
} from '../../../src/domain/licenses/license.ts'
import { isCovered } from '../../../src/domain/licenses/updates.ts'
import { type Duration, defaultKeyType, type KeyType } from '../../../src/domain/products/key-type.ts'
import { at, device, followSale, later, minted } from './license-samples.ts'

const year: Duration = { count: 1, unit: 'year' }
const afterYear = '2027-03-01T12:00:00.000Z'
const covered = minted({ expiresAt: null, updatesUntil: afterYear, saleId: 'pi_1', source: 'sale' })
const uncounted = minted({ expiresAt: null, saleId: 'pi_1', source: 'sale' })

const stateOf = (...events: LicenseEvent[]): License => events.reduce(evolveLicense, absentLicense)
const updatesOf = (license: License) =>
  license.status === 'issued' ? [license.updatesUntil, license.updatesPaidAt] : []

const following = (
  through: number,
  paidAt: readonly string[],
  more: Partial<DesiredState> = {},
): LicenseCommand =>
  followSale({ saleId: 'pi_1', through, updates: { paidAt, byKeyType: new Map([['pro', year]]) }, ...more })
const plan = (keyTypeId: string) => ({ keyTypeId, quantity: 1, deviceLimit: 1, onExpiry: 'expire' as const })

describe('the updates of a new license', () => {
  const keyType: KeyType = { ...defaultKeyType, updates: year }
  test('last for the period of the key type, or until what is asked for', () => {
    expect(termsOf(keyType, {}, at)).toMatchObject({ expiresAt: null, updatesUntil: afterYear })
    expect(termsPaidFor(keyType, { quantity: 1, paidUntil: null, isSubscription: true }, at)).toMatchObject({
      updatesUntil: afterYear,
    })
    const asked = { updatesUntil: '2030-01-01T00:00:00.750Z' }
    expect(termsFrom(keyType, asked, at)).toMatchObject({ updatesUntil: '2030-01-01T00:00:00.000Z' })
  })
  test('have no end, and no field, without a period', () => {
    for (const terms of [termsOf(defaultKeyType, {}, at), termsOf(keyType, { updatesUntil: null }, at)]) {
      expect(terms).not.toHaveProperty('updatesUntil')
    }
  })
})

describe('a build', () => {
  test('is covered until the very end of the updates, and whenever it is not known', () => {
    const license = { updatesUntil: afterYear }
    expect(isCovered(license, afterYear)).toBe(true)
    expect(isCovered(license, '2027-03-01T12:00:00.001Z')).toBe(false)
    expect(isCovered(license, null)).toBe(true)
    expect(isCovered({ updatesUntil: null }, '9000-01-01T00:00:00.000Z')).toBe(true)
  })
  test('that is not covered gets no seat, and one that is gets it long after', () => {
    const activate = (builtAt: string): LicenseCommand => ({
      type: 'ActivateDevice',
      ...device('laptop'),
      builtAt,
      at: '2031-01-01T00:00:00.000Z',
    })
    expect(() => decideLicense(stateOf(covered), activate('2027-03-01T12:00:01.000Z'))).toThrow(
      'build_not_covered',
    )
    expect(decideLicense(stateOf(covered), activate(afterYear))).toStrictEqual([
      { type: 'DeviceActivated', data: { ...device('laptop'), at: '2031-01-01T00:00:00.000Z' } },
    ])
  })
})

describe('a later payment', () => {
  test('extends updates that have not ended from their end, and ended ones from the payment', () => {
    const extended = (paidAt: string) => decideLicense(stateOf(covered), following(1, [paidAt]))
    expect(extended('2027-02-27T00:00:00.000Z')[0]).toStrictEqual({
      type: 'UpdatesExtended',
      data: { saleId: 'pi_1', updatesUntil: '2028-03-01T12:00:00.000Z', at: later },
    })
    expect(extended('2029-05-06T07:08:09.000Z')[0]).toMatchObject({
      data: { updatesUntil: '2030-05-06T07:08:09.000Z' },
    })
  })
  test('extends them once, however often the sale is followed', () => {
    const paid = ['2027-02-27T00:00:00.000Z']
    const once = stateOf(covered, ...decideLicense(stateOf(covered), following(1, paid)))
    expect(updatesOf(once)).toStrictEqual(['2028-03-01T12:00:00.000Z', paid[0]])
    expect(decideLicense(once, following(2, paid)).map(({ type }) => type)).toStrictEqual(['SaleFollowed'])
    const twice = decideLicense(once, following(3, ['2028-02-27T00:00:00.000Z', ...paid]))
    expect(twice[0]).toMatchObject({ data: { updatesUntil: '2029-03-01T12:00:00.000Z' } })
  })
  test('leaves a license alone that covers every build, or whose key type has no period', () => {
    const paid = following(1, ['2027-02-27T00:00:00.000Z'])
    expect(decideLicense(stateOf(uncounted), paid)).toMatchObject([{ type: 'SaleFollowed' }])
    expect(decideLicense(stateOf(uncounted), paid)[0]?.data).not.toHaveProperty('updatesPaidAt')
    const none = { paidAt: ['2027-02-27T00:00:00.000Z'], byKeyType: new Map<string, Duration>() }
    const counted = decideLicense(stateOf(covered), following(1, [], { updates: none }))
    // A payment from before the key type had a period does not count once it has one.
    expect(counted).toMatchObject([{ type: 'SaleFollowed', data: { updatesPaidAt: none.paidAt[0] } }])
    const since = stateOf(covered, ...counted)
    expect(decideLicense(since, following(2, none.paidAt)).length).toBe(1)
  })
  test('counts for nothing that was made before its vendor set the end', () => {
    const edit = { updatesUntil: '2027-06-01T00:00:00.000Z' }
    const command: LicenseCommand = {
      type: 'EditLicense',
      edit,
      reason: null,
      at: '2027-05-01T00:00:00.000Z',
    }
    const edited = stateOf(uncounted, ...decideLicense(stateOf(uncounted), command))
    expect(decideLicense(edited, following(1, ['2027-02-27T00:00:00.000Z'])).length).toBe(1)
    expect(decideLicense(edited, following(1, ['2027-05-02T00:00:00.000Z']))[0]).toMatchObject({
      data: { updatesUntil: '2028-06-01T00:00:00.000Z' },
    })
  })
})

describe('another key type', () => {
  const begun = {
    type: 'LicenseTermsChanged',
    data: { keyTypeId: 'pro', updatesUntil: '2027-03-02T12:00:00.000Z' },
  }
  test('begins the updates of a license that covered every build', () => {
    const other = minted({ keyTypeId: 'basic', expiresAt: null, saleId: 'pi_1', source: 'sale' })
    const paid = following(1, ['2026-03-02T11:00:00.000Z'], { terms: plan('pro') })
    expect(decideLicense(stateOf(other), paid)).toMatchObject([begun, { type: 'SaleFollowed' }])
  })
  test('leaves the end of the updates that a license has', () => {
    const other = minted({ keyTypeId: 'basic', updatesUntil: afterYear, saleId: 'pi_1', source: 'sale' })
    const [changed] = decideLicense(stateOf(other), following(1, [], { terms: plan('pro') }))
    expect(changed?.data).not.toHaveProperty('updatesUntil')
  })
})

describe('an edit', () => {
  const edit = (license: License, updatesUntil: string | null | undefined, more: object = {}) =>
    decideLicense(license, { type: 'EditLicense', edit: { updatesUntil, ...more }, reason: null, at: later })
  test('records an end only when it differs', () => {
    expect(edit(stateOf(covered), afterYear)).toStrictEqual([])
    expect(edit(stateOf(covered), undefined, { quantity: 1 })).toStrictEqual([])
    expect(edit(stateOf(covered), null)[0]?.data).toMatchObject({ updatesUntil: null })
    expect(edit(stateOf(covered), undefined, { metadata: { a: 'b' } })[0]?.data).not.toHaveProperty(
      'updatesUntil',
    )
  })
})

describe('payments, edits and plans in any order', () => {
  const moments = fc
    .integer({ min: 0, max: 3000 })
    .map((day) => new Date(Date.parse(at) + day * 86_400_000).toISOString())
  const steps = fc.array(
    fc.oneof(
      { weight: 3, arbitrary: fc.record({ paid: fc.array(moments, { maxLength: 4 }), at: moments }) },
      fc.record({ until: fc.option(moments), at: moments }),
      fc.record({ keyTypeId: fc.constantFrom('pro', 'basic', 'plain'), at: moments }),
      fc.record({ note: fc.constantFrom('a', 'b', 'c'), at: moments }),
    ),
    { maxLength: 12 },
  )
  const byKeyType = new Map<string, Duration>([
    ['pro', year],
    ['basic', { count: 1, unit: 'month' }],
  ])

  /** Carries out the steps as the license's sale and its vendor would. */
  function run(steps_: typeof steps extends fc.Arbitrary<infer S> ? S : never) {
    const events: LicenseEvent[] = [covered]
    let known: string[] = []
    let through = 0
    const paid: { before: string | null; after: string | null }[] = []
    for (const step of steps_) {
      const before = stateOf(...events)
      if ('paid' in step) known = [...known, ...step.paid]
      const command: LicenseCommand =
        'until' in step
          ? { type: 'EditLicense', edit: { updatesUntil: step.until }, reason: null, at: step.at }
          : 'note' in step
            ? { type: 'EditLicense', edit: { metadata: { note: step.note } }, reason: null, at: step.at }
            : following(++through, known, {
                updates: { paidAt: known, byKeyType },
                terms: 'keyTypeId' in step ? plan(step.keyTypeId) : null,
                at: step.at,
              })
      events.push(...decideLicense(before, command))
      if ('paid' in step)
        paid.push({ before: updatesOf(before)[0] ?? null, after: updatesOf(stateOf(...events))[0] ?? null })
    }
    return { events, paid }
  }

  test('never shorten the updates by a payment', () => {
    fc.assert(
      fc.property(steps, (taken) => {
        for (const { before, after: end } of run(taken).paid) {
          if (before === null) expect(end).toBeNull()
          else expect(end !== null && end >= before).toBe(true)
        }
      }),
    )
  })
  test('give the same from the events that still decide as from all of them', () => {
    fc.assert(
      fc.property(steps, (taken) => {
        const { events } = run(taken)
        const newest = new Map(events.map((event, index) => [slotOf(event), index]))
        const deciding = events.filter((event, index) => {
          const slot = slotOf(event)
          return slot === null || newest.get(slot) === index
        })
        expect(stateOf(...deciding)).toStrictEqual(stateOf(...events))
      }),
    )
  })
  test('never end later than what can be stored', () => {
    const far = minted({ expiresAt: null, updatesUntil: '9500-01-01T00:00:00.000Z', saleId: 'pi_1' })
    const updates = {
      paidAt: ['2027-01-01T00:00:00.000Z'],
      byKeyType: new Map([['pro', { ...year, count: 1000 }]]),
    }
    expect(decideLicense(stateOf(far), following(1, [], { updates }))[0]).toMatchObject({
      data: { updatesUntil: '9999-12-31T23:59:59.000Z' },
    })
    expect(expiryAfter(at, year)).toBe(afterYear)
  })
})
