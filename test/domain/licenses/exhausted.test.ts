/** That no floating seat is left is recorded at most once an hour, and only while it is so. */
import { test } from 'vitest'
import type { LicenseEvent } from '../../../src/domain/licenses/events.ts'
import {
  absentLicense,
  decideLicense,
  evolveLicense,
  type LicenseCommand,
} from '../../../src/domain/licenses/license.ts'
import type { FloatingSeats } from '../../../src/domain/products/key-type.ts'
import { givenOn } from '../given.ts'
import { activated, device, minted } from './license-samples.ts'

const given = givenOn({ initial: absentLicense, decide: decideLicense, evolve: evolveLicense })

const floating: FloatingSeats = { seatSeconds: 600, overdraft: { seats: 1 }, scope: 'device' }
const taken = (deviceId: 'laptop' | 'desktop', fence: number): LicenseEvent => ({
  type: 'DeviceActivated',
  data: { ...device(deviceId), fence, at: '2026-03-01T12:00:00.000Z' },
})
const full = [minted({ deviceLimit: 1, floating }), taken('laptop', 1), taken('desktop', 2)]
const at = (time: string) => `2026-03-01T${time}.000Z`
const note = (time: string): LicenseCommand => ({ type: 'NoteExhausted', waiting: 3, at: at(time) })
const exhausted = (time: string): LicenseEvent => ({
  type: 'SeatsExhausted',
  data: { seats: 2, waiting: 3, at: at(time) },
})

test('is recorded with the seats that are taken and the takers that wait', () =>
  given(...full)
    .when(note('13:00:00'))
    .expectEvents([exhausted('13:00:00')]))

test('is not recorded again within an hour, and is after it', () => {
  const told = [...full, exhausted('13:00:00')]
  given(...told)
    .when(note('13:59:59'))
    .expectEvents([])
  given(...told)
    .when(note('14:00:00'))
    .expectEvents([exhausted('14:00:00')])
})

test('is not recorded once a seat is free, or where devices keep their seats', () => {
  given(...full.slice(0, 2))
    .when(note('13:00:00'))
    .expectEvents([])
  given(minted(), activated('laptop')).when(note('13:00:00')).expectEvents([])
})
