/** Guarantee: a request for a license file is answered once, and none that is older than an answered one of its device. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  absentLicense,
  decideLicense,
  evolveLicense,
  type License,
} from '../../../src/domain/licenses/license.ts'
import { Refusal } from '../../../src/domain/refusal.ts'
import { at, minted } from './license-samples.ts'

/** A device whose requests are answered in the order in which they are carried. */
function device() {
  let license: License = evolveLicense(absentLicense, minted({ expiresAt: null }))
  return (counter: number): 'answered' | 'refused' => {
    try {
      const events = decideLicense(license, {
        type: 'IssueFile',
        fileId: `fil_${counter}`,
        instanceId: 'ins_1',
        platform: null,
        claim: {
          instanceId: null,
          installId: null,
          name: 'Mill',
          identities: [{ subjectId: 'sub_1', machine: 'hash-of-a-mill', components: {} }],
        },
        atLeast: null,
        request: { deviceKey: 'key', nonce: `nonce ${counter}`, counter },
        seconds: 86_400,
        perSeatPerYear: 366,
        at,
      })
      license = events.reduce<License>(evolveLicense, license)
      return 'answered'
    } catch (error) {
      if (error instanceof Refusal && error.code === 'file_request_outdated') return 'refused'
      throw error
    }
  }
}

test('a counter may rise by any amount, and every request behind the last answered one is refused', () =>
  fc.assert(
    fc.property(fc.uniqueArray(fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER })), (counters) => {
      const carry = device()
      let highest = 0
      for (const counter of counters) {
        expect(carry(counter)).toBe(counter > highest ? 'answered' : 'refused')
        highest = Math.max(highest, counter)
      }
    }),
  ))
