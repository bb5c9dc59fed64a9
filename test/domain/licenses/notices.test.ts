/**
 * The nearest notice that is due is recorded, once for an expiry and its number of days. There is none for a license that is
 * over, stopped, or was renewed meanwhile.
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
import { givenOn } from '../given.ts'
import { at, end, minted, nextEnd, renewed, revoked } from './license-samples.ts'

const given = givenOn({ initial: absentLicense, decide: decideLicense, evolve: evolveLicense })

const dayMs = 86_400_000
const ahead = (days: number, expiresAt = end) => new Date(Date.parse(expiresAt) - days * dayMs).toISOString()
const notice = (moment: string, days: readonly number[] = [14, 3], mail = false): LicenseCommand => ({
  type: 'NoticeExpiry',
  days,
  mail,
  at: moment,
})
const expiring = (daysBefore: number, moment: string, own: object = {}): LicenseEvent => ({
  type: 'LicenseExpiring',
  data: { expiresAt: end, daysBefore, ...own, at: moment },
})
const holder = { subjectId: 'sub_1', email: 'sealed.1.a.b', name: null }

describe('a notice', () => {
  test('is recorded from its moment on', () => {
    given(minted())
      .when(notice(ahead(14.001)))
      .expectEvents([])
    given(minted())
      .when(notice(ahead(14)))
      .expectEvents([expiring(14, ahead(14))])
    given(minted(), expiring(14, ahead(14)))
      .when(notice(ahead(3)))
      .expectEvents([expiring(3, ahead(3))])
  })

  test('that is overdue gives way to a nearer one', () =>
    given(minted())
      .when(notice(ahead(2)))
      .expectEvents([expiring(3, ahead(2))]))

  test('is recorded once, also when the days change', () => {
    const told = [minted(), expiring(3, ahead(3))]
    for (const days of [[14, 3], [5], [14]])
      given(...told)
        .when(notice(ahead(2), days))
        .expectEvents([])
    given(...told)
      .when(notice(ahead(1), [3, 1]))
      .expectEvents([expiring(1, ahead(1))])
  })

  test('is of the new expiry after a renewal', () => {
    const told = [minted(), expiring(3, ahead(3)), renewed]
    given(...told)
      .when(notice(ahead(2)))
      .expectEvents([])
    given(...told)
      .when(notice(ahead(14, nextEnd)))
      .expectEvents([expiring(14, ahead(14, nextEnd), { expiresAt: nextEnd })])
  })

  test('is none for a license that is over, stopped, perpetual or waiting', () => {
    const suspended: LicenseEvent = { type: 'LicenseSuspended', data: { reason: null, at } }
    given(minted()).when(notice(end)).expectEvents([])
    given(minted(), revoked)
      .when(notice(ahead(1)))
      .expectEvents([])
    given(minted(), suspended)
      .when(notice(ahead(1)))
      .expectEvents([])
    given(minted({ expiresAt: null }))
      .when(notice(ahead(1)))
      .expectEvents([])
    given(minted())
      .when(notice(ahead(1), []))
      .expectEvents([])
  })

  test('is mailed to a holder with an address, if the product tells its customers', () => {
    given(minted({ holder }))
      .when(notice(ahead(3), [3], true))
      .expectEvents([expiring(3, ahead(3), { mail: true })])
    given(minted())
      .when(notice(ahead(3), [3], true))
      .expectEvents([expiring(3, ahead(3))])
    given(minted({ holder }))
      .when({ type: 'EndPaidPeriod', mail: true, at: end })
      .expectEvents([{ type: 'LicenseExpired', data: { expiresAt: end, mail: true, at: end } }])
    given(minted({ holder }))
      .when({ type: 'EndPaidPeriod', at: end })
      .expectEvents([{ type: 'LicenseExpired', data: { expiresAt: end, at: end } }])
  })
})

test('in any order of moments and days, no notice of an expiry is recorded twice, and each is nearer than the last', () => {
  const wanted = fc.array(
    fc.tuple(fc.integer({ min: 0, max: 20 }), fc.array(fc.integer({ min: 1, max: 20 }))),
  )
  fc.assert(
    fc.property(wanted, (all) => {
      let license: License = evolveLicense(absentLicense, minted())
      const told: number[] = []
      for (const [left, days] of all) {
        for (const event of decideLicense(license, notice(ahead(left), days))) {
          if (event.type === 'LicenseExpiring') told.push(event.data.daysBefore)
          license = evolveLicense(license, event)
        }
      }
      expect(told).toStrictEqual([...new Set(told)].sort((a, b) => b - a))
    }),
  )
})
