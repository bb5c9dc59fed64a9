/**
 * Guarantee: sharing is noticed once a day for each rule, suspends once a day at most and only where the product wants it, and never a
 * license whose use a person allowed.
 */
import { test } from 'vitest'
import type { LicenseEvent } from '../../../src/domain/licenses/events.ts'
import {
  absentLicense,
  decideLicense,
  evolveLicense,
  type LicenseCommand,
} from '../../../src/domain/licenses/license.ts'
import type { Finding } from '../../../src/domain/licenses/sharing.ts'
import { givenOn } from '../given.ts'
import { minted, reminted, revoked } from './license-samples.ts'

const given = givenOn({ initial: absentLicense, decide: decideLicense, evolve: evolveLicense })

const at = '2026-03-03T12:00:00.000Z'
const networks: Finding = { rule: 'networks', count: 5, limit: 3, day: '2026-03-03' }
const countries: Finding = { rule: 'countries', count: 2, limit: 1, day: '2026-03-03' }
const published: Finding = { rule: 'published_key', count: 1, limit: null, day: '2026-03-03' }
const nextDay = { ...networks, day: '2026-03-04' }

const notice = (found: Finding, suspend = false): LicenseCommand => ({
  type: 'NoticeSharing',
  ...found,
  suspend,
  at,
})
const noticed = (found: Finding, action: 'show' | 'suspend' = 'show'): LicenseEvent => ({
  type: 'LicenseSharingNoticed',
  data: { ...found, action, at },
})
const suspended = (reason: string): LicenseEvent => ({ type: 'LicenseSuspended', data: { reason, at } })
const resumed: LicenseEvent = { type: 'LicenseResumed', data: { reason: null, at } }
const allow = (allowed: boolean): LicenseCommand => ({
  type: 'AllowSharing',
  allowed,
  reason: 'an office that moves',
  at,
})
const allowed = (is: boolean): LicenseEvent => ({
  type: 'LicenseSharingAllowed',
  data: { allowed: is, reason: 'an office that moves', at },
})

test('a rule is noticed once a day, and again on the next', () => {
  given(minted())
    .when(notice(networks))
    .expectEvents([noticed(networks)])
  given(minted(), noticed(networks))
    .when(notice({ ...networks, count: 6 }))
    .expectEvents([])
  given(minted(), noticed(networks))
    .when(notice(nextDay))
    .expectEvents([noticed(nextDay)])
})

test('a day before the one that was noticed last is not noticed any more', () =>
  given(minted(), noticed(nextDay)).when(notice(networks)).expectEvents([]))

test('another rule is noticed on the same day', () =>
  given(minted(), noticed(networks))
    .when(notice(countries))
    .expectEvents([noticed(countries)]))

test('a license is suspended with its notice where the product wants it', () =>
  given(minted())
    .when(notice(networks, true))
    .expectEvents([
      noticed(networks, 'suspend'),
      suspended('Key sharing: one seat used from 5 networks in a day, more than 3'),
    ]))

test('one that its vendor resumed is not suspended again on that day, by another rule either', () => {
  const before = [minted(), noticed(networks, 'suspend'), suspended('sharing'), resumed]
  given(...before)
    .when(notice(networks, true))
    .expectEvents([])
  given(...before)
    .when(notice(countries, true))
    .expectEvents([noticed(countries)])
  given(...before)
    .when(notice(nextDay, true))
    .expectEvents([
      noticed(nextDay, 'suspend'),
      suspended('Key sharing: one seat used from 5 networks in a day, more than 3'),
    ])
})

test('a suspended or revoked license is not noticed', () => {
  given(minted(), suspended('unpaid')).when(notice(networks, true)).expectEvents([])
  given(minted(), revoked).when(notice(networks, true)).expectEvents([])
})

test('nothing is noticed of a license whose use is allowed, until it is not any more', () => {
  given(minted(), noticed(networks))
    .when(allow(true))
    .expectEvents([allowed(true)])
  given(minted(), allowed(true)).when(allow(true)).expectEvents([])
  given(minted(), allowed(true)).when(notice(networks, true)).expectEvents([])
  given(minted(), allowed(true), allowed(false))
    .when(notice(networks))
    .expectEvents([noticed(networks)])
  given(minted()).when(allow(false)).expectEvents([])
})

test('a published key is noticed once, and the next key of the license again', () => {
  given(minted(), noticed(published))
    .when(notice({ ...published, day: '2026-05-05' }))
    .expectEvents([])
  given(minted(), noticed(published), reminted(false))
    .when(notice(published))
    .expectEvents([noticed(published)])
})

test('a remint does not bring a notice of the same day again', () =>
  given(minted(), noticed(networks), reminted(true)).when(notice(networks)).expectEvents([]))
