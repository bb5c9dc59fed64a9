/** What the holder of a license is told of the devices that take its seats. */
import { expect, test } from 'vitest'
import type { LicenseEvent } from '../../../src/domain/licenses/events.ts'
import {
  absentLicense,
  decideLicense,
  evolveLicense,
  type LicenseCommand,
} from '../../../src/domain/licenses/license.ts'
import type { DeviceMail } from '../../../src/domain/products/device-mails.ts'
import { activated, device, minted } from './license-samples.ts'

const holder = { subjectId: 'sub_1', email: 'sealed', name: null }
const floating = { seatSeconds: 600, overdraft: null, scope: 'device' } as const
const at = '2026-03-02T12:00:00.000Z'
const activate = (tell: readonly DeviceMail[] | null): LicenseCommand => ({
  type: 'ActivateDevice',
  ...device('desktop'),
  tell,
  at,
})

function mailOf(past: readonly LicenseEvent[], command: LicenseCommand): unknown {
  const license = past.reduce(evolveLicense, absentLicense)
  return decideLicense(license, command).map(({ data }) => ('mail' in data ? data.mail : undefined))[0]
}

const both: DeviceMail[] = ['new_device', 'seats_full']

test.each<[string, DeviceMail | undefined, LicenseEvent[], DeviceMail[] | null]>([
  ['the last of two seats', 'seats_full', [minted({ holder, deviceLimit: 2 }), activated('laptop')], both],
  [
    'the last seat, which is not told',
    'new_device',
    [minted({ holder, deviceLimit: 2 }), activated('laptop')],
    ['new_device'],
  ],
  ['the first of two seats', 'new_device', [minted({ holder, deviceLimit: 2 })], both],
  [
    'the first of two seats, of which only the last is told',
    undefined,
    [minted({ holder, deviceLimit: 2 })],
    ['seats_full'],
  ],
  ['the only seat', 'new_device', [minted({ holder, deviceLimit: 1 })], both],
  ['one of any number', 'new_device', [minted({ holder, deviceLimit: null })], both],
  ['a product that tells nothing', undefined, [minted({ holder, deviceLimit: 2 })], null],
  ['a holder without an address', undefined, [minted({ holder: { ...holder, email: null } })], both],
  ['no holder', undefined, [minted({ holder: null })], both],
  ['a floating seat', undefined, [minted({ holder, deviceLimit: 2, floating })], both],
])('%s: %s', (_, mail, past, tell) => expect(mailOf(past, activate(tell))).toBe(mail))

test('that no floating seat is left is told where the product says so', () => {
  const full = [minted({ holder, deviceLimit: 1, floating }), activated('laptop')]
  const note = (tell: DeviceMail[] | null): LicenseCommand => ({
    type: 'NoteExhausted',
    waiting: 1,
    tell,
    at,
  })
  expect(mailOf(full, note(both))).toBe(true)
  expect(mailOf(full, note(['new_device']))).toBeUndefined()
  expect(mailOf(full, note(null))).toBeUndefined()
})
