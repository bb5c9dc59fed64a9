import type { Pool } from 'pg'
import type { OrganizationEvent, OrganizationRole } from '../src/domain/organizations/events.ts'
import type { PortalLanguage } from '../src/domain/portal/languages.ts'
import type { Recorded } from '../src/domain/recorded.ts'
import { type Keyset, orderOf, type PageOf, pageOf } from './page.ts'
import type { Projector } from './projector.ts'
import type { Statements } from './statements.ts'
import { defineTable, type FieldsOf } from './table.ts'

const columns = {
  personId: 'text not null',
  customerId: 'text not null',
  tenantId: 'text not null',
  subjectId: 'text not null',
  // Sealed.
  email: 'text not null',
  name: 'text',
  role: 'text not null',
  addedAt: 'timestamptz not null',
  // Of the last invitation: when it was asked for, in which language, and when the mail server took it.
  invitedAt: 'timestamptz',
  language: 'text',
  mailedAt: 'timestamptz',
  // They have no access any more. The row stays, so that no event that is applied again brings them back.
  removed: 'boolean not null',
  // Of the customer's stream.
  revision: 'int not null',
} as const

type Row = FieldsOf<typeof columns>

const people = defineTable('people', columns, {
  key: ['personId'],
  over: 'older row',
  indexes: {
    people_of_customer: '(customer_id, added_at desc, person_id desc)',
    people_of_subject: '(tenant_id, subject_id) where not removed',
    people_invited: '(invited_at) where invited_at is not null and mailed_at is null and not removed',
  },
})

/** The people of the organizations. */
export const peopleProjector: Projector = {
  name: 'people',
  tables: [people],
  applyIndexes: ['people_of_customer'],
  async apply(db, entries) {
    const changes = entries.flatMap(changeIn)
    if (changes.length === 0) return []
    const rows = new Map((await rowsFor(db, changes)).map((row) => [row.personId, row]))
    const written = new Set<Row>()
    for (const change of changes)
      for (const row of changedBy(rows, change)) {
        written.add(row)
        rows.set(row.personId, row)
      }
    return people.write([...rows.values()].filter((row) => written.has(row)))
  },
}

type Change = { customerId: string; revision: number; event: OrganizationEvent }

function changeIn({ category, stream, revision, event }: Recorded): Change[] {
  if (category !== 'customer') return []
  const customerId = stream.slice('customer-'.length)
  switch (event.type) {
    case 'OrganizationFormed':
    case 'OrganizationDissolved':
    case 'PersonAdded':
    case 'PersonRoleChanged':
    case 'PersonRemoved':
    case 'InvitationAsked':
    case 'InvitationMailed':
      return [{ customerId, revision, event }]
    default:
      return []
  }
}

/** The people whom the changes name, and all of an organization that is dissolved. */
async function rowsFor(db: Statements, changes: readonly Change[]): Promise<Row[]> {
  const personIds = changes.flatMap(({ event }) => ('personId' in event.data ? event.data.personId : []))
  const dissolved = changes.filter(({ event }) => event.type === 'OrganizationDissolved')
  const { rows } = await db.query<Parameters<typeof people.fieldsIn>[0]>({
    name: 'people-to-apply',
    text: 'select * from people where person_id = any($1) or customer_id = any($2)',
    values: [personIds, dissolved.map(({ customerId }) => customerId)],
  })
  return rows.map((row) => people.fieldsIn(row))
}

/** The rows that an event changes, as they are after it; none of those that it has changed before. */
function changedBy(rows: ReadonlyMap<string, Row>, { customerId, revision, event }: Change): Row[] {
  if (event.type === 'OrganizationFormed') return []
  if (event.type === 'OrganizationDissolved') {
    const theirs = [...rows.values()].filter(
      (row) => row.customerId === customerId && row.revision < revision,
    )
    return theirs.map((row) => ({ ...row, removed: true, revision }))
  }
  const before = rows.get(event.data.personId)
  if (event.type === 'PersonAdded') {
    const { at: addedAt, ...person } = event.data
    const notInvited = { invitedAt: null, language: null, mailedAt: null }
    const row = { ...person, customerId, addedAt, ...notInvited, removed: false, revision }
    return before && before.revision >= revision ? [] : [row]
  }
  if (before === undefined || before.revision >= revision) return []
  return [{ ...before, ...fieldsChangedBy(event), revision }]
}

type OfPerson = Exclude<
  OrganizationEvent,
  { type: 'OrganizationFormed' | 'OrganizationDissolved' | 'PersonAdded' }
>

function fieldsChangedBy({ type, data }: OfPerson): Partial<Row> {
  switch (type) {
    case 'PersonRoleChanged':
      return { role: data.role }
    case 'PersonRemoved':
      return { removed: true }
    case 'InvitationAsked':
      return { invitedAt: data.at, language: data.language, mailedAt: null }
    case 'InvitationMailed':
      return { mailedAt: data.at }
  }
}

/** A person of an organization, with their sealed address and name. */
export type SealedOrganizationPerson = {
  personId: string
  subjectId: string
  email: string
  name: string | null
  role: OrganizationRole
  addedAt: string
  invitedAt: string | null
  mailedAt: string | null
  /** Of the last invitation. */
  language: PortalLanguage | null
}

const shown = `person_id as "personId", subject_id as "subjectId", email, name, role, added_at as "addedAt",
  invited_at as "invitedAt", mailed_at as "mailedAt", language`

/**
 * Newest first; ties by id.
 * @param among only those of these people
 */
export async function listPeople(
  db: Pool,
  tenantId: string,
  customerId: string,
  { after, limit, order }: Keyset,
  among?: readonly string[],
): Promise<PageOf<SealedOrganizationPerson>> {
  const { by, past } = orderOf(order, 'added_at', 'person_id')
  const { rows } = await db.query<SealedOrganizationPerson>(
    `select ${shown} from people
     where tenant_id = $1 and customer_id = $2 and not removed and ($3::timestamptz is null or ${past('$3', '$4')})
       and ($6::text[] is null or person_id = any($6))
     order by ${by} limit $5`,
    [tenantId, customerId, after?.createdAt ?? null, after?.id ?? null, limit + 1, among ?? null],
  )
  return pageOf(rows, limit, ({ addedAt, personId }) => ({ createdAt: addedAt, id: personId }))
}

/** @returns undefined for a person who is not, or no longer, in the organization */
export async function findPerson(
  db: Pool,
  tenantId: string,
  customerId: string,
  personId: string,
): Promise<SealedOrganizationPerson | undefined> {
  const { rows } = await db.query<SealedOrganizationPerson>({
    name: 'find-person',
    text: `select ${shown} from people
           where tenant_id = $1 and customer_id = $2 and person_id = $3 and not removed`,
    values: [tenantId, customerId, personId],
  })
  return rows[0]
}

/** An organization of a person, and its own sealed name. */
export type OrganizationOfPerson = {
  customerId: string
  /** Of the customer, whose key its name is sealed under. */
  subjectId: string
  email: string | null
  name: string | null
  personId: string
  role: OrganizationRole
}

/** The organizations that a person is in, the oldest first. */
export async function listOrganizationsOfPerson(
  db: Pool,
  tenantId: string,
  subjectId: string,
): Promise<OrganizationOfPerson[]> {
  const { rows } = await db.query<OrganizationOfPerson>({
    name: 'list-organizations-of-person',
    text: `select c.customer_id as "customerId", c.subject_id as "subjectId", c.state->>'email' as email,
             c.state->>'name' as name, p.person_id as "personId", p.role
           from people p join customers c on c.customer_id = p.customer_id and c.tenant_id = p.tenant_id
           where p.tenant_id = $1 and p.subject_id = $2 and not p.removed
           order by p.added_at, p.person_id limit 100`,
    values: [tenantId, subjectId],
  })
  return rows
}

/** An invitation that is to be mailed. */
export type DueInvitation = { tenantId: string; customerId: string; personId: string }

/** Invitations that no mail server has taken, of workspaces whose portal is open, the oldest first. */
export async function listDueInvitations(
  db: Pool,
  { since, except, most }: { since: string; except: readonly string[]; most: number },
): Promise<DueInvitation[]> {
  const { rows } = await db.query<DueInvitation>({
    name: 'list-due-invitations',
    text: `select p.tenant_id as "tenantId", p.customer_id as "customerId", p.person_id as "personId"
           from people p
           join portals o on o.tenant_id = p.tenant_id and (o.settings->>'enabled')::boolean
           where p.invited_at > $1 and p.mailed_at is null and not p.removed and p.person_id <> all($2)
           order by p.invited_at, p.person_id limit $3`,
    values: [since, except, most],
  })
  return rows
}
