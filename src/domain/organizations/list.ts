import { readCsv, separatorOf, withoutPrefix } from '../csv.ts'
import { EmailAddress, isPlain } from '../values.ts'
import { OrganizationRole } from './events.ts'

/** As many people as are added at once. */
export const mostAtOnce = 200

export const maxPersonName = 200

/** A person on a list. */
export type ListedPerson = { email: string; name: string | null; role: OrganizationRole }

/** Why a list cannot be used, and on which line; the line is 0 for the list as a whole. */
export type ListProblem = { what: 'empty' | 'quote' | 'too_many' | 'email' | 'name' | 'role'; line: number }

const columns = ['email', 'name', 'role'] as const

/**
 * Reads a list of people: on each line an email address, and after it a name and a role if they have any. Commas, semicolons or tabs
 * separate them, as in a file of a spreadsheet, whose first line may name the columns.
 */
export function readPeople(text: string): { people: ListedPerson[] } | { problem: ListProblem } {
  const [first = ''] = text.trimStart().split(/[\r\n]/, 1)
  const records = readCsv(text, separatorOf(first))
  if (records === undefined) return { problem: { what: 'quote', line: 0 } }
  const lines = records.map(({ line, cells }) => ({
    line,
    cells: cells.map((cell) => withoutPrefix(cell).trim()),
  }))
  const head = lines[0]?.cells.map((name) => name.toLowerCase()) ?? []
  const isNamed = head.includes('email')
  const places = columns.map((name, index) => (isNamed ? head.indexOf(name) : index))
  const people: ListedPerson[] = []
  for (const { line, cells } of isNamed ? lines.slice(1) : lines) {
    if (cells.every((cell) => cell === '')) continue
    const [email = '', name = '', role = ''] = places.map((place) => cells[place] ?? '')
    const read = personOf(email, name, role)
    if (typeof read === 'string') return { problem: { what: read, line } }
    people.push(read)
    if (people.length > mostAtOnce) return { problem: { what: 'too_many', line } }
  }
  return people.length === 0 ? { problem: { what: 'empty', line: 0 } } : { people }
}

function personOf(email: string, name: string, role: string): ListedPerson | 'email' | 'name' | 'role' {
  const address = EmailAddress.safeParse(email)
  if (!address.success) return 'email'
  if (name.length > maxPersonName || !isPlain(name)) return 'name'
  const known = OrganizationRole.safeParse(role === '' ? 'member' : role.toLowerCase())
  return known.success ? { email: address.data, name: name || null, role: known.data } : 'role'
}
