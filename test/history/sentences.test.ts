/** Guarantee: what a customer did is one sentence with the customer as its subject; other events name who caused them. */
import { expect, test } from 'vitest'
import { publicNames } from '../../src/domain/licenses/event-names.ts'
import { happeningInWords } from '../../src/history/actors.ts'
import { wordsOf } from '../../src/history/sentences.ts'

const at = '2026-11-21T09:30:00.000Z'
const grace = { kind: 'customer', id: 'sub_grace', name: 'grace@example.com' } as const
const ada = { kind: 'member', id: 'mem_ada', name: 'ada@example.com' } as const
const name = { subjectId: 'sub_grace', text: 'sealed' }
const freed = { type: 'SeatFreedByCustomer', data: { deviceId: 'laptop', at } } as const

test.each([
  [freed, grace, 'grace@example.com freed the seat of “Office PC”', null],
  [freed, { ...grace, name: grace.id }, 'customer sub_grace freed the seat of “Office PC”', null],
  [
    { type: 'DeviceNamed', data: { deviceId: 'laptop', name, at } } as const,
    grace,
    'grace@example.com renamed “Office PC”',
    null,
  ],
  [
    { type: 'DeviceNamed', data: { deviceId: 'laptop', name: null, at } } as const,
    grace,
    'grace@example.com removed the name of “Office PC”',
    null,
  ],
  [
    { type: 'KeyMailAsked', data: { keyHash: 'sha256:0', at } } as const,
    ada,
    'Key email requested',
    'by ada@example.com',
  ],
])('%j by %j is “%s”', (event, actor, what, by) => {
  const summary = wordsOf(event, 'Office PC')
  expect(happeningInWords({ event: publicNames[event.type], summary, actor })).toStrictEqual({ what, by })
})
