/** A list of people is read as people type it and as spreadsheets write it; what an export wrote is read back unchanged. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { mostAtOnce, readPeople } from '../../../src/domain/organizations/list.ts'
import { csvLine } from '../../../src/http/csv.ts'

const ada = { email: 'ada@example.com', name: 'Ada Lovelace', role: 'administrator' }
const bob = { email: 'bob@example.com', name: null, role: 'member' }

describe('a list', () => {
  test.each([
    ['ada@example.com, Ada Lovelace, administrator\nbob@example.com'],
    ['\n\nada@example.com;Ada Lovelace;Administrator\r\n\r\nbob@example.com;;\r\n'],
    ['ada@example.com\tAda Lovelace\tadministrator\nbob@example.com\t\tmember'],
    ['\uFEFFRole,Email,Name\nadministrator,ada@example.com,"Ada Lovelace"\nmember,bob@example.com,'],
    ['email,phone,name,role\nada@example.com,1,Ada Lovelace,administrator\nbob@example.com,2,,'],
  ])('is read: %j', (text) => expect(readPeople(text)).toStrictEqual({ people: [ada, bob] }))

  test.each([
    ['', 'empty', 0],
    [' \n\n', 'empty', 0],
    ['email,name\n', 'empty', 0],
    ['ada@example.com,"Ada', 'quote', 0],
    ['ada@example.com\nAda Lovelace', 'email', 2],
    [`ada@example.com,${'x'.repeat(201)}`, 'name', 1],
    ['ada@example.com,Ada\u202E', 'name', 1],
    ['\nada@example.com,Ada,owner', 'role', 2],
    ['email,role\nada@example.com,boss', 'role', 2],
    ['a@example.com\n'.repeat(mostAtOnce + 1), 'too_many', mostAtOnce + 1],
  ])('is refused: %j', (text, what, line) =>
    expect(readPeople(text)).toStrictEqual({ problem: { what, line } }),
  )
})

test('what an export wrote is read back', () => {
  const name = fc.string({
    maxLength: 40,
    unit: fc.constantFrom('a', ' ', '"', ',', ';', "'", '=', '+', 'é'),
  })
  const someone = fc.record(
    {
      email: fc.constantFrom('ada@example.com', 'bob@example.com'),
      name: name.map((text) => text.trim() || null),
      role: fc.constantFrom('administrator', 'member'),
    },
    { noNullPrototype: true },
  )
  fc.assert(
    fc.property(fc.array(someone, { minLength: 1, maxLength: 5 }), (people) => {
      const lines = people.map(({ email, name: named, role }) => csvLine([email, named, role]))
      expect(readPeople(`${csvLine(['email', 'name', 'role'])}${lines.join('')}`)).toStrictEqual({ people })
    }),
  )
})
