/** Guarantee: the seats of living relays and those of devices are never more than the license allows, whatever is asked when. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  absentLicense,
  decideLicense,
  evolveLicense,
  type License,
  type LicenseCommand,
} from '../../../src/domain/licenses/license.ts'
import { seatsTaken } from '../../../src/domain/licenses/relay-seats.ts'
import type { RelayRequest } from '../../../src/domain/licenses/relays.ts'
import { outcomeOf } from '../given.ts'
import { at, type DeviceId, minted } from './license-samples.ts'
import { certify, day, floating, head, secondsAfter, take } from './relay-samples.ts'

test('whatever relays and devices do, no more seats can be used at once than the license allows', () => {
  const keys = ['one', 'two', 'three']
  const devices: DeviceId[] = ['laptop', 'desktop', 'phone']
  const step = fc.record({
    what: fc.constantFrom('certify', 'certify', 'certify', 'release', 'take', 'give back'),
    key: fc.constantFrom(...keys),
    device: fc.constantFrom(...devices),
    seats: fc.integer({ min: 1, max: 5 }),
    days: fc.integer({ min: 1, max: 5 }),
    isCopy: fc.boolean(),
    waitHours: fc.integer({ min: 0, max: 60 }),
  })
  const limits = fc.record({ limit: fc.integer({ min: 1, max: 6 }), over: fc.integer({ min: 0, max: 2 }) })
  let refused = 0
  let certified = 0
  fc.assert(
    fc.property(limits, fc.array(step, { maxLength: 40 }), ({ limit, over }, steps) => {
      const own = { ...floating, overdraft: over === 0 ? null : { seats: over } }
      let license: License = evolveLicense(
        absentLicense,
        minted({ deviceLimit: limit, expiresAt: null, floating: own }),
      )
      /** Every certificate that was ever made: whoever has it gives out its seats until its end, but for a release. */
      const certificates: { relayId: string; seats: number; endsAt: string }[] = []
      const givenBack = new Set<string>()
      let now = at
      for (const [index, each] of steps.entries()) {
        now = secondsAfter(each.waitHours * 3600, now)
        if (license.status === 'absent') throw new Error('it was minted')
        const relay = license.relays.findLast(
          ({ publicKey, releasedAt: gone }) => publicKey === each.key && gone === null,
        )
        const heads: RelayRequest['heads'] = [
          relay && !each.isCopy ? relay.head : head(0),
          head(index + 1, each.isCopy ? 'b' : 'a'),
        ]
        const commands: Record<string, LicenseCommand> = {
          certify: certify(
            {
              relayId: relay?.relayId ?? null,
              publicKey: each.key,
              nonce: `nonce-${index}`,
              counter: index + 1,
              seats: each.seats,
              heads,
            },
            { newId: `rel_${index}`, seconds: each.days * day, at: now },
          ),
          release: {
            type: 'ReleaseRelay',
            release: { relayId: relay?.relayId ?? 'rel_none', publicKey: each.key, heads },
            at: now,
          },
          take: take(each.device, now),
          'give back': { type: 'DeactivateDevice', deviceId: each.device, at: now },
        }
        const command = commands[each.what]
        if (!command) throw new Error('there is a command for each step')
        const before: License = license
        const outcome = outcomeOf(() => decideLicense(before, command))
        if ('refusal' in outcome) {
          refused++
          continue
        }
        for (const event of outcome.events) {
          license = evolveLicense(license, event)
          if (event.type === 'RelayEnrolled' || event.type === 'RelayRenewed') {
            certified++
            certificates.push(event.data)
          }
          if (event.type === 'RelayReleased') givenBack.add(event.data.relayId)
        }
        if (license.status === 'absent') throw new Error('it was minted')
        const usable = Map.groupBy(
          certificates.filter(({ relayId, endsAt }) => !givenBack.has(relayId) && now < endsAt),
          ({ relayId }) => relayId,
        )
        const inRelays = [...usable.values()].reduce(
          (sum, ofRelay) => sum + Math.max(...ofRelay.map(({ seats }) => seats)),
          0,
        )
        expect(license.seatsUsed + inRelays).toBeLessThanOrEqual(seatsTaken(license, now))
        expect(seatsTaken(license, now)).toBeLessThanOrEqual(limit + over)
      }
    }),
    { numRuns: 2000 },
  )
  expect(refused).toBeGreaterThan(1000)
  expect(certified).toBeGreaterThan(1000)
})
