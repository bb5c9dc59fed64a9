import { z } from 'zod'
import type { OrganizationRole } from '../../domain/organizations/events.ts'
import type { ForeignOrganization, ForeignPerson } from '../foreign.ts'
import { onceFor, type Piece } from './source.ts'

type Row = Readonly<Record<string, string>>

/** The entries of a cell that holds several. */
export const listIn = (text: string | undefined): string[] | undefined =>
  text?.split(/[\s;|,]+/).filter((entry) => entry !== '')

/** By what lines name the same organization: in an export of keyledger the id of the customer, else its name. */
export const organizationIdOf = ({ organization, customerId }: Row): string | undefined =>
  organization === undefined ? undefined : (customerId ?? organization)

const Named = z.object({ from: z.string(), externalId: z.string(), name: z.string() })
const Person = z.object({ organizationId: z.string(), email: z.string() })

/** The organization that a line names, and its people: those of all its lines are in it. */
export function organizationPieces(from: string, row: Row): Piece[] {
  const id = organizationIdOf(row)
  if (id === undefined) return []
  const named: z.infer<typeof Named> = { from, externalId: id, name: row.organization ?? id }
  const people = (role: OrganizationRole, emails: readonly string[] = []) =>
    emails.map((email): Piece => {
      const person: z.infer<typeof Person> = { organizationId: id, email }
      return { kind: role, id: JSON.stringify([id, email]), group: null, from, data: person }
    })
  return [
    { kind: 'organization', id, group: null, from, data: named },
    ...people('administrator', listIn(row.administrators)),
    ...people('member', listIn(row.members)),
  ]
}

/** The organizations that lines name, by what they name them. */
export const organizationsOf = onceFor((shared): ReadonlyMap<string, ForeignOrganization> => {
  const people = new Map<string, ForeignPerson[]>()
  for (const role of ['administrator', 'member'] as const) {
    for (const data of shared.all(role).values()) {
      const { organizationId, email } = Person.parse(data)
      const known = people.get(organizationId) ?? []
      known.push({ email, name: null, role })
      people.set(organizationId, known)
    }
  }
  return new Map(
    [...shared.all('organization').values()].map((data) => {
      const { from, externalId, name } = Named.parse(data)
      const plain = { email: null, metadata: {}, leftOut: [] }
      return [externalId, { from, externalId, name, people: people.get(externalId) ?? [], ...plain }]
    }),
  )
})
