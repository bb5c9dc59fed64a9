/**
 * Guarantee: of what another system knows of a machine, that comes over which an app can send here in the same form; the
 * rest costs no device, is counted, and never makes a row too large.
 */
import { describe, expect, test } from 'vitest'
import type { ForeignComponent, ForeignDevice } from '../../src/import/foreign.ts'
import { marksOf } from '../../src/import/plan/marks.ts'

const hash = 'A-hash_of/16+abc='
const device = (own: Partial<ForeignDevice>): ForeignDevice => ({
  deviceId: 'one',
  name: null,
  lastSeen: null,
  ...own,
})
const part = (name: string | null, value: string | null = hash): ForeignComponent => ({ name, value })

function marked(...devices: ForeignDevice[]) {
  const notes: string[] = []
  return { marks: marksOf(devices, (note) => void notes.push(note)), notes }
}

describe('a machine', () => {
  test.each([
    ['a hash', hash, { machineHash: hash }],
    ['a text that is too short', 'short', {}],
    ['a text with colons', '4d:Eq:UV:D3:XZ:tL:WN:Bz', {}],
    ['nothing', undefined, {}],
  ])('that is known by %s', (_, machine, expected) => {
    expect(marked(device({ machine }))).toStrictEqual({ marks: [expected], notes: [] })
  })
})

describe('the components of a machine', () => {
  test.each([
    ['Board', 'board'],
    ['Disk Serial-No. 1', 'disk_serial_no_1'],
    ['1st disk', 'st_disk'],
    ['MAC ', 'mac'],
    ['a'.repeat(40), 'a'.repeat(32)],
  ])('have names in the form of this system: %s', (name, expected) => {
    expect(marked(device({ components: [part(name)] }))).toStrictEqual({
      marks: [{ components: { [expected]: hash } }],
      notes: [],
    })
  })

  test('are left out and counted where they have no usable name or value, or another has their name', () => {
    const components = [
      part('mac'),
      part('MAC', `${hash}2`),
      part('###'),
      part(null),
      part('ip', '203.0.113.7'),
    ]
    const { marks, notes } = marked(device({ components: [...components, part('disk', null)] }))
    expect(marks).toStrictEqual([{ components: { mac: hash } }])
    expect(notes).toStrictEqual([
      'Components of its devices that are left out: 5. ' +
        'A component needs a name and 16 to 128 of A-Z a-z 0-9 + / = _ -, and a device has at most 8.',
    ])
  })

  test('are the first eight', () => {
    const components = Array.from({ length: 10 }, (_, index) => part(`part ${index}`))
    const { marks, notes } = marked(device({ components }))
    expect(Object.keys(marks[0]?.components ?? {})).toStrictEqual(
      Array.from({ length: 8 }, (_, index) => `part_${index}`),
    )
    expect(notes).toStrictEqual([expect.stringMatching(/^Components of its devices that are left out: 2\./)])
  })
})

test('the machines of the first 250 devices of a license come over', () => {
  const { marks, notes } = marked(...Array.from({ length: 300 }, () => device({ machine: hash })))
  expect(marks.filter(({ machineHash }) => machineHash === hash)).toHaveLength(250)
  expect(marks).toHaveLength(300)
  expect(notes).toStrictEqual([
    '50 of its devices are imported without what identifies them: a row has no room for more.',
  ])
})

test('fewer come over when they are large, so that the row of the license is not', () => {
  const components = Array.from({ length: 8 }, (_, index) => part(`part ${index}`, 'x'.repeat(128)))
  const { marks } = marked(...Array.from({ length: 250 }, () => device({ components })))
  expect(Buffer.byteLength(JSON.stringify(marks))).toBeLessThan(132 * 1024)
  expect(marks.filter((of) => of.components !== undefined).length).toBeGreaterThan(100)
})
