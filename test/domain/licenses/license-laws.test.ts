/**
 * For any sequence of commands: the count of used seats is right and never exceeds the limit, a repeated
 * request changes nothing, and a decision about one device needs no other device's seat.
 */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  absentLicense,
  decideLicense,
  evolveLicense,
  type IssuedLicense,
  type License,
  type LicenseCommand,
} from '../../../src/domain/licenses/license.ts'
import { outcomeOf } from '../given.ts'
import { commands, events, issues } from './license-samples.ts'

/** The outcome of a command, and the license after it; a refusal leaves it unchanged. */
function run(license: License, command: LicenseCommand) {
  const outcome = outcomeOf(() => decideLicense(license, command))
  const after = 'events' in outcome ? outcome.events.reduce(evolveLicense, license) : license
  return { outcome, after }
}

const lifetimes = fc
  .tuple(issues, fc.array(commands, { maxLength: 30 }))
  .map(([issue, rest]) => [issue, ...rest])

const seated = (license: IssuedLicense) =>
  [...license.seats.values()].filter((seat) => seat.status === 'active').map((seat) => seat.deviceId)

/** The simplest model of who has a seat after a command that was not refused. */
function sit(devices: Set<string>, command: LicenseCommand): void {
  if (command.type === 'ImportLicense') for (const { deviceId } of command.devices) devices.add(deviceId)
  if (command.type === 'ActivateDevice') devices.add(command.deviceId)
  if (command.type === 'DeactivateDevice') devices.delete(command.deviceId)
  if (command.type === 'RemintLicense' && !command.keepDevices) devices.clear()
}

test('the seats in use are those of the active devices, and never more than the limit', () =>
  fc.assert(
    fc.property(lifetimes, (lifetime) => {
      const model = new Set<string>()
      let license: License = absentLicense
      for (const command of lifetime) {
        const { outcome, after } = run(license, command)
        if ('events' in outcome) sit(model, command)
        license = after
        if (license.status === 'absent') continue
        expect(new Set(seated(license))).toStrictEqual(model)
        expect(license.seatsUsed).toBe(model.size)
        expect(license.seatsUsed).toBeLessThanOrEqual(license.deviceLimit ?? Number.POSITIVE_INFINITY)
      }
    }),
    { numRuns: 500 },
  ))

test('a device is refused a seat only when every seat is another device’s', () =>
  fc.assert(
    fc.property(lifetimes, (lifetime) => {
      let license: License = absentLicense
      for (const command of lifetime) {
        const { outcome, after } = run(license, command)
        if (command.type === 'ActivateDevice' && license.status === 'issued' && 'refusal' in outcome) {
          const full =
            license.seatsUsed === license.deviceLimit && !seated(license).includes(command.deviceId)
          if (outcome.refusal === 'seat_limit_reached') expect(full).toBe(true)
        }
        license = after
      }
    }),
    { numRuns: 500 },
  ))

test('a device command, a renewal or an end of a period that is repeated at once records nothing', () =>
  fc.assert(
    fc.property(lifetimes, (lifetime) => {
      let license: License = absentLicense
      for (const command of lifetime) {
        const { outcome, after } = run(license, command)
        license = after
        const onceOnly = ['MintLicense', 'ImportLicense', 'RemintLicense', 'RevokeLicense'].includes(
          command.type,
        )
        if (onceOnly || 'refusal' in outcome) continue
        expect(run(license, command).outcome).toStrictEqual({ events: [] })
      }
    }),
    { numRuns: 500 },
  ))

test('a decision about one device is the same without any other device’s seat', () =>
  fc.assert(
    fc.property(lifetimes, (lifetime) => {
      let license: License = absentLicense
      for (const command of lifetime) {
        const { outcome, after } = run(license, command)
        if ('deviceId' in command && license.status === 'issued') {
          const only = restricted(license, command.deviceId)
          const alone = run(only, command)
          expect(alone.outcome).toStrictEqual(outcome)
          expect(alone.after).toStrictEqual(
            after.status === 'issued' ? restricted(after, command.deviceId) : after,
          )
        }
        license = after
      }
    }),
    { numRuns: 500 },
  ))

function restricted(license: IssuedLicense, deviceId: string): IssuedLicense {
  const seats = new Map([...license.seats].filter(([id]) => id === deviceId))
  return { ...license, seats }
}

test('any sequence of events is applied without an error, with the right count of seats', () =>
  fc.assert(
    fc.property(fc.array(events, { maxLength: 40 }), (history) => {
      const license = history.reduce(evolveLicense, absentLicense)
      const issued = history.some(({ type }) => type === 'LicenseMinted' || type === 'LicenseImported')
      expect(license.status).toBe(issued ? 'issued' : 'absent')
      if (license.status === 'issued') expect(license.seatsUsed).toBe(seated(license).length)
    }),
    { numRuns: 500 },
  ))

test('a decision changes neither the license nor the command', () =>
  fc.assert(
    fc.property(lifetimes, (lifetime) => {
      let license: License = absentLicense
      for (const command of lifetime) {
        const copies = structuredClone({ license, command })
        const { after } = run(license, command)
        expect({ license, command }).toStrictEqual(copies)
        license = after
      }
    }),
  ))
