/** A license shows its terms, its latest key, its present and former devices, and how it ended. */
import { expect, test } from 'vitest'
import type { LicenseEvent } from '../../../src/domain/licenses/events.ts'
import { absentLicense, evolveLicense } from '../../../src/domain/licenses/license.ts'
import type { Seat } from '../../../src/domain/licenses/seats.ts'
import {
  activated,
  at,
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

const state = (...history: LicenseEvent[]) => history.reduce(evolveLicense, absentLicense)
const { at: _, ...own } = terms
const issued = {
  ...own,
  linkedBy: null,
  mergedFrom: null,
  formerCustomers: null,
  startsWith: null,
  graceSeconds: null,
  noticedEnd: null,
  noticedDays: null,
  status: 'issued',
  revokedAt: null,
  revokedReason: null,
  revokedCause: null,
  refundedPayments: [],
  refundedAt: null,
  saleThrough: 0,
  sold: null,
  endedAt: null,
  takenBackAt: null,
  updatesUntil: null,
  updatesPaidAt: null,
  suspendedAt: null,
  suspendedReason: null,
  keyMailAskedAt: null,
  freedByCustomerAt: [],
  deviceSubjects: [],
  filesByDay: null,
  borrowed: null,
  exhaustedAt: null,
  floating: null,
  named: null,
  sharing: null,
  lastFence: 0,
  relays: [],
  seatsUsed: 0,
  seats: new Map(),
}
const activeSince = (deviceId: Parameters<typeof device>[0], since: string): Seat => ({
  ...device(deviceId),
  identity: null,
  former: null,
  inTwoPlacesAt: null,
  givenName: null,
  files: null,
  fence: null,
  personId: null,
  status: 'active',
  activatedAt: since,
  deactivatedAt: null,
})
const seat = activeSince('laptop', at)
const emptied: Seat = { ...seat, status: 'deactivated', deactivatedAt: later }

test('begins with the terms and no devices, minted or imported', () => {
  expect(state(minted())).toStrictEqual(issued)
  expect(state({ type: 'LicenseImported', data: terms })).toStrictEqual(issued)
})

test('shows present and former devices', () => {
  expect(state(minted(), activated('laptop'))).toStrictEqual({
    ...issued,
    seatsUsed: 1,
    seats: new Map([['laptop', seat]]),
  })
  expect(state(minted(), activated('laptop'), deactivated('laptop', later))).toStrictEqual({
    ...issued,
    seats: new Map([['laptop', emptied]]),
  })
})

test('a device that was activated again shows its latest seat', () =>
  expect(
    state(minted(), activated('laptop'), deactivated('laptop'), activated('laptop', later)),
  ).toStrictEqual({
    ...issued,
    seatsUsed: 1,
    seats: new Map([['laptop', { ...seat, activatedAt: later }]]),
  }))

test('a new key replaces the old one, and frees the seats or keeps them', () => {
  const newKeyOnly = { ...issued, keyHash: 'b'.repeat(64), displayKey: 'ACME…8888' }
  const before = [
    minted({ deviceLimit: 3 }),
    activated('laptop'),
    activated('phone', later),
    deactivated('phone', later),
  ]
  const phone: Seat = { ...activeSince('phone', later), status: 'deactivated', deactivatedAt: later }
  expect(state(...before, reminted(true))).toStrictEqual({
    ...newKeyOnly,
    deviceLimit: 3,
    seatsUsed: 1,
    seats: new Map([
      ['laptop', seat],
      ['phone', phone],
    ]),
  })
  expect(state(...before, reminted(false))).toStrictEqual({
    ...newKeyOnly,
    deviceLimit: 3,
    seats: new Map([
      ['laptop', { ...emptied, deactivatedAt: at }],
      ['phone', phone],
    ]),
  })
})

test('shows a revocation, a renewal and an end', () => {
  expect(state(minted(), revoked)).toStrictEqual({
    ...issued,
    revokedAt: at,
    revokedReason: 'abuse',
    revokedCause: 'person',
  })
  expect(state(minted(), renewed)).toStrictEqual({ ...issued, expiresAt: nextEnd })
  expect(state(minted(), expired)).toStrictEqual({ ...issued, endedAt: end })
  expect(state(minted(), fellBack)).toStrictEqual({ ...issued, endedAt: end })
})
