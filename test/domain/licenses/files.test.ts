/** Guarantee: a request for a license file is answered once, and none that is older than an answered one of its device. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { LicenseEvent } from '../../../src/domain/licenses/events.ts'
import {
  absentLicense,
  decideLicense,
  evolveLicense,
  type License,
  type LicenseCommand,
} from '../../../src/domain/licenses/license.ts'
import { Refusal } from '../../../src/domain/refusal.ts'
import { afterEnd, at, later, minted } from './license-samples.ts'

/** A device whose requests are answered in the order in which they are carried, and what else happens to it. */
function device() {
  let license: License = evolveLicense(absentLicense, minted({ expiresAt: null }))
  const happen = (command: LicenseCommand): LicenseEvent[] => {
    const events = decideLicense(license, command)
    license = events.reduce<License>(evolveLicense, license)
    return events
  }
  const carry = (counter: number): 'answered' | 'refused' => {
    try {
      happen({
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
      return 'answered'
    } catch (error) {
      if (error instanceof Refusal && error.code === 'file_request_outdated') return 'refused'
      throw error
    }
  }
  /** The device gives back the file that it got last. */
  const release = (moment: string) => {
    const seat = license.status === 'issued' ? license.seats.get('ins_1') : undefined
    const serial = seat?.files?.at(-1)?.serial ?? 0
    const given = { instanceId: 'ins_1', deviceKey: 'key', serial, fence: null, reason: null }
    return happen({ type: 'ReleaseFile', ...given, at: moment })
  }
  const activate = (moment: string) => {
    const own = { deviceId: 'ins_1', instanceId: 'ins_1', installId: null, name: 'Mill', platform: null }
    return happen({ type: 'ActivateDevice', ...own, at: moment })
  }
  return { carry, release, activate, happen }
}

test('a counter may rise by any amount, and every request behind the last answered one is refused', () =>
  fc.assert(
    fc.property(fc.uniqueArray(fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER })), (counters) => {
      const { carry } = device()
      let highest = 0
      for (const counter of counters) {
        expect(carry(counter)).toBe(counter > highest ? 'answered' : 'refused')
        highest = Math.max(highest, counter)
      }
    }),
  ))

test('a device that is activated again under its id is still known by its files', () => {
  const { carry, release, activate } = device()
  expect(carry(5)).toBe('answered')
  expect(release(at).map(({ type }) => type)).toStrictEqual(['LicenseFileReleased', 'DeviceDeactivated'])
  expect(activate(later).map(({ type }) => type)).toStrictEqual(['DeviceActivated'])
  expect([carry(4), carry(5)]).toStrictEqual(['refused', 'refused'])
  // The same release once more.
  expect(release(later)).toStrictEqual([])
  expect(carry(6)).toBe('answered')
})

test('the file of an earlier activation frees no seat that the device took since', () => {
  const { carry, release, activate, happen } = device()
  carry(1)
  const back = { type: 'DeactivateDevice', deviceId: 'ins_1', at: afterEnd } as const
  expect(happen(back).map(({ type }) => type)).toStrictEqual(['DeviceDeactivated'])
  activate(afterEnd)
  expect(release(afterEnd).map(({ type }) => type)).toStrictEqual(['LicenseFileReleased'])
})
