/**
 * An erasure is recorded once at its beginning and once at its end; a license then no longer names its
 * holder.
 */
import { expect, test } from 'vitest'
import { absentLicense, decideLicense, evolveLicense } from '../../../src/domain/licenses/license.ts'
import type { SubjectEvent } from '../../../src/domain/subjects/events.ts'
import {
  decideSubject,
  evolveSubject,
  presentSubject,
  type SubjectCommand,
} from '../../../src/domain/subjects/subject.ts'
import { givenOn } from '../given.ts'
import { later, minted } from '../licenses/license-samples.ts'

const given = givenOn({ initial: presentSubject, decide: decideSubject, evolve: evolveSubject })
const givenLicense = givenOn({ initial: absentLicense, decide: decideLicense, evolve: evolveLicense })

const at = '2026-03-01T12:00:00.000Z'
const who = { tenantId: 'acme', subjectId: 'sub_1' }
const found = { licenses: 2, customers: 1, sales: 0, notifications: 0, mails: 0 }
const begin: SubjectCommand = { type: 'BeginErasure', ...who, at }
const end: SubjectCommand = { type: 'EndErasure', erased: found, at }
const begun: SubjectEvent = { type: 'ErasureBegun', data: { ...who, at } }
const erased: SubjectEvent = { type: 'SubjectErased', data: { ...found, at } }

test('an erasure begins once and ends once', () => {
  given().when(begin).expectEvents([begun])
  given(begun).when(begin).expectEvents([])
  given(begun).when(end).expectEvents([erased])
  given(begun, erased).when(begin).expectEvents([])
  given(begun, erased).when(end).expectEvents([])
})

test('an erasure that has not begun does not end', () => given().when(end).expectEvents([]))

test('the state holds what was found', () =>
  expect([begun, erased].reduce(evolveSubject, presentSubject)).toStrictEqual({
    ...who,
    status: 'erased',
    begunAt: at,
    erasedAt: at,
    erased: found,
  }))

const holder = { subjectId: 'sub_1', email: 'sealed.1.email', name: 'sealed.1.name' }
const erase = { type: 'EraseHolder', subjectId: 'sub_1', at: later } as const
const holderErased = { type: 'HolderErased', data: { at: later } } as const

test('the holder of a license is erased once, and stays a subject without a name', () => {
  givenLicense(minted({ holder })).when(erase).expectEvents([holderErased])
  givenLicense(minted({ holder }), holderErased).when(erase).expectEvents([])
  expect([minted({ holder }), holderErased].reduce(evolveLicense, absentLicense)).toMatchObject({
    holder: { subjectId: 'sub_1', email: null, name: null },
  })
})

test('a license without a holder has nothing to erase, and an absent one is refused', () => {
  givenLicense(minted({ holder: null }))
    .when(erase)
    .expectEvents([])
  givenLicense().when(erase).expectRefusal('license_not_found')
})
