/**
 * One device never holds two seats of a license, two devices never hold one, and a device frees the seat that is its own:
 * whatever it is called, and although its parts are replaced and its system is installed again.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { LicenseEvent } from '../../../src/domain/licenses/events.ts'
import {
  absentLicense,
  decideLicense,
  evolveLicense,
  type License,
  type LicenseCommand,
} from '../../../src/domain/licenses/license.ts'
import type { DeviceClaim, DeviceIdentity } from '../../../src/domain/licenses/marks.ts'
import type { Seat } from '../../../src/domain/licenses/seats.ts'
import { at, minted, terms } from './license-samples.ts'

type Claim = DeviceClaim & { name: string }

const license = (...history: LicenseEvent[]): License =>
  [minted({ deviceLimit: null, expiresAt: null }), ...history].reduce(evolveLicense, absentLicense)

const activate = (instanceId: string, claim: Claim, { atLeast = null as number | null, moment = at } = {}) =>
  ({
    type: 'ActivateInstance',
    instanceId,
    platform: null,
    claim,
    atLeast,
    at: moment,
  }) satisfies LicenseCommand

const next = (state: License, command: LicenseCommand): License =>
  decideLicense(state, command).reduce(evolveLicense, state)

const seated = (state: License): Seat[] =>
  state.status === 'issued' ? [...state.seats.values()].filter(({ status }) => status === 'active') : []

const instancesIn = (state: License): string[] => seated(state).map(({ instanceId }) => instanceId)

const subjectId = 'sub_1'
const claim = (name: string, own: Partial<Claim> = {}): Claim => ({
  instanceId: null,
  installId: null,
  name,
  identities: [],
  ...own,
})
const machine = (hash: string | null, components: Record<string, string> = {}) => ({
  identities: [{ subjectId, machine: hash, components }],
})

describe('a device is recognized', () => {
  const seatOf = (first: Claim, second: Claim, atLeast?: number) =>
    instancesIn(
      next(
        next(license(), activate('ins_1', first)),
        activate('ins_2', second, { atLeast: atLeast ?? null }),
      ),
    )
  const isSame = ['ins_1']
  const isAnother = ['ins_1', 'ins_2']

  test.each<[string, Claim, Claim, string[]]>([
    ['by its name, when neither has another mark', claim('Mac'), claim('Mac'), isSame],
    ['not by the name of another', claim('Mac'), claim('PC'), isAnother],
    ['by the id of the install', claim('Mac', { installId: 'a' }), claim('PC', { installId: 'a' }), isSame],
    ['by the instance id that it sends', claim('Mac'), claim('PC', { instanceId: 'ins_1' }), isSame],
    [
      'not by its name among installs',
      claim('Mac', { installId: 'a' }),
      claim('Mac', { installId: 'b' }),
      isAnother,
    ],
    ['not by its name alone, if the seat is marked', claim('Mac', machine('a')), claim('Mac'), isAnother],
    ['by its name once, when it identifies itself', claim('Mac'), claim('Mac', machine('a')), isSame],
    ['by its machine', claim('Mac', machine('a')), claim('PC', machine('a')), isSame],
    ['not by its name among machines', claim('Mac', machine('a')), claim('Mac', machine('b')), isAnother],
  ])('%s', (_, first, second, expected) => expect(seatOf(first, second)).toStrictEqual(expected))

  const imported = (identity: DeviceIdentity) =>
    license(
      ...decideLicense(absentLicense, {
        type: 'ImportLicense',
        terms: { ...terms, deviceLimit: null, expiresAt: null },
        devices: [
          { deviceId: 'old', instanceId: 'ins_1', installId: null, name: 'Mac', platform: null, identity },
        ],
        revoked: false,
      }).slice(1),
    )
  const old: DeviceIdentity = { subjectId, machine: 'a', components: { board: '1', disk: '2' } }

  test.each<[string, Claim, string[]]>([
    ['by its machine', claim('PC', machine('a')), isSame],
    ['by its components', claim('PC', machine('b', { board: '1', disk: '2' })), isSame],
    ['by its name, as its new app identifies it in another way', claim('Mac', machine('b')), isSame],
    ['by its name alone', claim('Mac'), isSame],
    ['by none of them', claim('PC', machine('b', { board: '9', disk: '9' })), isAnother],
  ])('after an import: %s', (_, claimed, expected) =>
    expect(instancesIn(next(imported(old), activate('ins_2', claimed)))).toStrictEqual(expected),
  )

  test.each([
    ['as it was in the other system', machine('a', { board: '1', disk: '2' })],
    ['in another way', machine('b')],
  ])('after an import no longer by its name once it has identified itself %s', (_, said) => {
    const known = next(imported(old), activate('ins_2', claim('Mac', said)))
    expect(instancesIn(known)).toStrictEqual(isSame)
    expect(instancesIn(next(known, activate('ins_2', claim('Mac', machine('c')))))).toStrictEqual(isAnother)
  })

  const parts = { board: '1', disk: '2', mac: '3', os: '4' }
  test.each<[string, Record<string, string>, Record<string, string>, number | undefined, string[]]>([
    ['by more than half of its components', parts, { ...parts, disk: 'new' }, undefined, isSame],
    ['not by half of them', parts, { ...parts, disk: 'new', os: 'new' }, undefined, isAnother],
    ['by as many as the product asks for', parts, { ...parts, disk: 'new', os: 'new' }, 2, isSame],
    ['not by fewer than the product asks for', parts, { ...parts, disk: 'new' }, 4, isAnother],
    ['by those that both have', { board: '1', disk: '2' }, parts, undefined, isSame],
    ['never by one component alone', { board: '1' }, parts, undefined, isAnother],
    ['never by one of two', { board: '1', disk: '9' }, parts, undefined, isAnother],
  ])('%s', (_, first, second, atLeast, expected) =>
    expect(
      seatOf(claim('Mac', machine('a', first)), claim('PC', machine('b', second)), atLeast),
    ).toStrictEqual(expected),
  )

  test('as the one with the most equal components', () => {
    const both = [
      activate('ins_1', claim('one', machine('a', { ...parts, disk: 'x' }))),
      activate('ins_2', claim('two', machine('b', { ...parts, mac: '9', os: '9' })), { atLeast: 4 }),
    ].reduce(next, license())
    const third = activate('ins_3', claim('three', machine('c', { ...parts, mac: '9' })), { atLeast: 2 })
    const [event] = decideLicense(both, third)
    expect(event).toMatchObject({ type: 'DeviceIdentified', data: { instanceId: 'ins_2' } })
  })

  test('by hashes under the key of the person who held the license before', () => {
    const before = next(license(), activate('ins_1', claim('Mac', machine('a'))))
    const now = { subjectId: 'sub_2', machine: 'b', components: {} }
    const known = [now, { subjectId, machine: 'a', components: {} }]
    const events = decideLicense(before, activate('ins_2', claim('PC', { identities: known })))
    expect(events).toMatchObject([{ type: 'DeviceIdentified', data: { marks: { identity: now } } }])
  })

  test('by its name again once the person whose key it was hashed under was erased', () => {
    const before = next(license(), activate('ins_1', claim('Mac', machine('a'))))
    const identities = [{ subjectId: 'sub_tenant', machine: 'b', components: {} }]
    expect(instancesIn(next(before, activate('ins_2', claim('Mac', { identities }))))).toStrictEqual([
      'ins_1',
    ])
    expect(instancesIn(next(before, activate('ins_2', claim('Mac'))))).toStrictEqual(isAnother)
  })
})

test('what a device says of itself is recorded once, and what it leaves out stays', () => {
  const command = activate('ins_1', claim('Mac', { installId: 'a', ...machine('a', { disk: '1' }) }))
  const first = next(license(), command)
  expect(decideLicense(first, command)).toStrictEqual([])
  expect(decideLicense(first, activate('ins_2', claim('Mac', { installId: 'a' })))).toStrictEqual([])
  const marks = (name: string, components: Record<string, string>) => ({
    installId: 'a',
    name,
    identity: { subjectId, machine: 'a', components },
  })
  const renamed = activate('ins_2', claim('PC', machine('a', { mac: '2' })))
  expect(decideLicense(first, renamed)).toStrictEqual([
    {
      type: 'DeviceIdentified',
      data: {
        deviceId: 'ins_1',
        instanceId: 'ins_1',
        marks: marks('PC', { disk: '1', mac: '2' }),
        before: marks('Mac', { disk: '1' }),
        at,
      },
    },
  ])
})

test('a machine that turns out to hold two seats gives one of them back', () => {
  const both = [
    activate('ins_1', claim('one', { installId: 'a', ...machine('a') })),
    activate('ins_2', claim('two', { installId: 'b', ...machine('b') })),
  ].reduce(next, license())
  const moved = activate('ins_3', claim('two', { installId: 'a', ...machine('b') }))
  expect(instancesIn(next(both, moved))).toStrictEqual(['ins_1'])
})

test('a device that is given back its seat is recognized as before', () => {
  const before = [
    activate('ins_1', claim('PC', machine('a'))),
    { type: 'DeactivateDevice', deviceId: 'ins_1', at } as const,
    { type: 'ReseatDevice', deviceId: 'ins_1', at } as const,
  ].reduce<License>(next, license())
  expect(instancesIn(next(before, activate('ins_2', claim('Renamed', machine('a')))))).toStrictEqual([
    'ins_1',
  ])
})

describe('copies of one machine', () => {
  const of = (mac: string) => claim('VM', machine('a', { mac, disk: '1' }))
  const on = (moment: string, mac: string) => activate('ins_1', of(mac), { moment })
  const types = (state: License, command: LicenseCommand) =>
    decideLicense(state, command).map(({ type }) => type)
  const first = [on('2026-03-01T12:00:00.000Z', 'one'), on('2026-03-01T13:00:00.000Z', 'two')].reduce(
    next,
    license(),
  )

  test('are noticed when the marks go back and forth within a day, once a day, and refuse nothing', () => {
    const again = on('2026-03-01T14:00:00.000Z', 'one')
    expect(types(first, again)).toStrictEqual(['DeviceIdentified', 'DeviceInTwoPlaces'])
    const noticed = next(first, again)
    expect(types(noticed, on('2026-03-01T15:00:00.000Z', 'two'))).toStrictEqual(['DeviceIdentified'])
    expect(seated(noticed)).toMatchObject([{ inTwoPlacesAt: '2026-03-01T14:00:00.000Z' }])
  })
  test('are not assumed of a change that is taken back later, nor of a third mark', () => {
    expect(types(first, on('2026-03-02T13:00:00.000Z', 'one'))).toStrictEqual(['DeviceIdentified'])
    expect(types(first, on('2026-03-01T14:00:00.000Z', 'three'))).toStrictEqual(['DeviceIdentified'])
  })
})

/** A device of the model, with marks that no other one has, save its name. */
type Device = {
  name: string
  installId: string | null
  machine: string | null
  parts: Record<string, string>
}

const actions = ['activate', 'deactivate', 'rename', 'replace a part', 'reinstall', 'lose the app'] as const

const kinds = {
  everything: (id: string): Device => ({
    name: 'MacBook-Pro.local',
    installId: `install ${id}`,
    machine: `machine ${id}`,
    parts: { board: `board ${id}`, disk: `disk ${id}`, mac: `mac ${id}` },
  }),
  'a machine': (id: string): Device => ({ ...kinds.everything(id), installId: null, parts: {} }),
  components: (id: string): Device => ({ ...kinds.everything(id), installId: null, machine: null }),
  'an install': (id: string): Device => ({ ...kinds.everything(id), machine: null, parts: {} }),
}

const histories = fc.record({
  devices: fc.array(fc.constantFrom(...(Object.keys(kinds) as (keyof typeof kinds)[])), {
    minLength: 1,
    maxLength: 5,
  }),
  steps: fc.array(fc.record({ which: fc.nat(4), action: fc.constantFrom(...actions), part: fc.nat(2) }), {
    maxLength: 60,
  }),
})

/** What becomes of a device; a change after which nothing could recognize it is none. */
function changed(device: Device, action: (typeof actions)[number], part: number, fresh: string): Device {
  const names = Object.keys(device.parts)
  const name = names[part]
  if (action === 'rename') return { ...device, name: fresh }
  if (action === 'replace a part' && name) return { ...device, parts: { ...device.parts, [name]: fresh } }
  if (action === 'reinstall' && names.length > 0) {
    return { ...device, machine: device.machine && fresh, installId: device.installId && fresh }
  }
  if (action === 'lose the app' && device.machine) return { ...device, installId: device.installId && fresh }
  return device
}

test('in any history each device has the seat that it was given, and only that one', () =>
  fc.assert(
    fc.property(histories, ({ devices, steps }) => {
      const all = devices.map((kind, index) => kinds[kind](String(index)))
      const seatOf = new Map<number, string>()
      let state = license()
      for (const [step, { which, action, part }] of steps.entries()) {
        const index = which % all.length
        const before = all[index]
        if (!before) continue
        const device = changed(before, action, part, `fresh ${step}`)
        all[index] = device
        const held = seatOf.get(index)
        if (action === 'deactivate') {
          if (held === undefined) continue
          state = next(state, { type: 'DeactivateDevice', deviceId: held, at })
          seatOf.delete(index)
        } else if (held !== undefined || action === 'activate') {
          const identity = { subjectId, machine: device.machine, components: device.parts }
          const isNamed = device.machine !== null || Object.keys(device.parts).length > 0
          const { name, installId } = device
          const command = activate(
            `ins_${step}`,
            claim(name, { installId, identities: isNamed ? [identity] : [] }),
          )
          state = next(state, command)
          seatOf.set(index, held ?? `ins_${step}`)
        }
        expect(instancesIn(state).sort()).toStrictEqual([...seatOf.values()].sort())
        expect(state.status === 'issued' && state.seatsUsed).toBe(seatOf.size)
      }
    }),
    { numRuns: 3000 },
  ))
