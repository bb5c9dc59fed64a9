/** Of the events in one slot only the newest counts: folding without the others gives the same license. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { LicenseEvent } from '../../src/domain/license/events.ts'
import { absentLicense, evolveLicense, type License } from '../../src/domain/license/license.ts'
import { deviceSlots, ownSlots, slotOf } from '../../src/domain/license/slots.ts'
import { activated, deactivated, events, linked, minted, reminted, renewed } from './license-samples.ts'

const folded = (all: readonly LicenseEvent[]): License => all.reduce(evolveLicense, absentLicense)

/** Seats are by device, in no order that means anything. */
const comparable = (license: License) =>
  license.status === 'absent' ? license : { ...license, seats: Object.fromEntries(license.seats) }

function withoutOverwritten(all: readonly LicenseEvent[]): LicenseEvent[] {
  const newest = new Map(all.map((event, index) => [slotOf(event) ?? `event ${index}`, index]))
  return all.filter((event, index) => newest.get(slotOf(event) ?? `event ${index}`) === index)
}

test('any history folds to the same license without the events that were overwritten', () => {
  fc.assert(
    fc.property(fc.array(events, { maxLength: 40 }), (more) => {
      const all = [minted(), ...more]
      expect(comparable(folded(withoutOverwritten(all)))).toStrictEqual(comparable(folded(all)))
    }),
    { numRuns: 2000 },
  )
})

test('a device that came and went ten thousand times leaves three events to fold', () => {
  const visits = Array.from({ length: 10_000 }, () => [activated('laptop'), deactivated('laptop')]).flat()
  expect(withoutOverwritten([minted(), ...visits])).toStrictEqual([
    minted(),
    activated('laptop'),
    deactivated('laptop'),
  ])
})

test('every slot is one of a device or one that is known', () => {
  const slots = [activated('laptop'), deactivated('laptop'), renewed, reminted(true)].map(slotOf)
  expect([...deviceSlots('laptop'), ...ownSlots]).toEqual(expect.arrayContaining(slots))
  expect([minted(), reminted(false), linked('cus_1')].map(slotOf)).toStrictEqual([null, null, null])
})
