import type { PortalLanguage } from '../portal/texts.ts'
import { Refusal } from '../refusal.ts'
import type { OrganizationEvent, OrganizationRole } from './events.ts'

/** Their ids are part of the customer. */
export const maxPeople = 1000

/** A person is not mailed more often (milliseconds). */
const invitationEveryMs = 60 * 60_000

/** A person of an organization. */
type OrganizationPerson = {
  subjectId: string
  role: OrganizationRole
  /** When an invitation was last asked for, and whether its mail was taken. */
  invited?: { at: string; mailed: boolean }
}

/** The people of a customer by their ids; absent for a customer who is one person. */
export type People = Readonly<Record<string, OrganizationPerson>>

/** A person to be added, sealed. */
export type NewPerson = {
  personId: string
  subjectId: string
  email: string
  name: string | null
  role: OrganizationRole
}

export type OrganizationCommand =
  /** @param administrator the buyer, who is the first one */
  | { type: 'FormOrganization'; tenantId: string; administrator: NewPerson; at: string }
  | { type: 'DissolveOrganization'; at: string }
  /** @param invite the language of the invitations; undefined for none */
  | {
      type: 'AddPeople'
      tenantId: string
      people: readonly NewPerson[]
      invite: PortalLanguage | undefined
      at: string
    }
  | { type: 'ChangePersonRole'; personId: string; role: OrganizationRole; at: string }
  | { type: 'RemovePerson'; personId: string; at: string }
  /** Removes a person who is erased, also the last administrator. */
  | { type: 'ErasePerson'; subjectId: string; at: string }
  | { type: 'InvitePerson'; personId: string; language: PortalLanguage; at: string }
  | { type: 'RecordInvitation'; personId: string; at: string }

const commandTypes: Record<OrganizationCommand['type'], true> = {
  FormOrganization: true,
  DissolveOrganization: true,
  AddPeople: true,
  ChangePersonRole: true,
  RemovePerson: true,
  ErasePerson: true,
  InvitePerson: true,
  RecordInvitation: true,
}

export const isOrganizationCommand = <Command extends { type: string }>(
  command: Command | OrganizationCommand,
): command is OrganizationCommand => Object.hasOwn(commandTypes, command.type)

/**
 * Returning no events means that the request was already true.
 * @param people undefined for a customer who is one person
 * @throws Refusal `not_an_organization`, `person_not_found`, `last_administrator`, `too_many_people`, `invited_recently`
 */
export function decideOnPeople(
  people: People | undefined,
  command: OrganizationCommand,
): OrganizationEvent[] {
  if (command.type === 'FormOrganization') return people === undefined ? formed(command) : []
  if (command.type === 'DissolveOrganization')
    return people === undefined ? [] : [{ type: 'OrganizationDissolved', data: { at: command.at } }]
  if (command.type === 'ErasePerson') return erased(people ?? {}, command)
  if (people === undefined) throw new Refusal('not_an_organization')
  if (command.type === 'AddPeople') return added(people, command)
  const { personId, at } = command
  const person = people[personId]
  if (person === undefined) throw new Refusal('person_not_found')
  switch (command.type) {
    case 'ChangePersonRole': {
      const { role } = command
      if (person.role === role) return []
      requireAnother(people, personId)
      return [{ type: 'PersonRoleChanged', data: { personId, role, at } }]
    }
    case 'RemovePerson':
      requireAnother(people, personId)
      return [{ type: 'PersonRemoved', data: { personId, at } }]
    case 'InvitePerson': {
      if (wasInvited(person, at)) throw new Refusal('invited_recently')
      return [{ type: 'InvitationAsked', data: { personId, language: command.language, at } }]
    }
    case 'RecordInvitation':
      return person.invited?.mailed !== false ? [] : [{ type: 'InvitationMailed', data: { personId, at } }]
  }
}

const formed = ({
  tenantId,
  administrator,
  at,
}: Extract<OrganizationCommand, { type: 'FormOrganization' }>) =>
  [
    { type: 'OrganizationFormed', data: { at } },
    { type: 'PersonAdded', data: { ...administrator, tenantId, at } },
  ] satisfies OrganizationEvent[]

/**
 * The people of an organization that another system had. Each of them is added once.
 * @throws Refusal `too_many_people`; `last_administrator` where nobody could add people
 */
export function imported({
  tenantId,
  people,
  at,
}: Pick<
  Extract<OrganizationCommand, { type: 'AddPeople' }>,
  'tenantId' | 'people' | 'at'
>): OrganizationEvent[] {
  if (people.every(({ role }) => role !== 'administrator')) throw new Refusal('last_administrator')
  return [
    { type: 'OrganizationFormed', data: { at } },
    ...added({}, { type: 'AddPeople', tenantId, people, invite: undefined, at }),
  ]
}

/** Those who are in it already stay as they are. */
function added(
  people: People,
  { tenantId, people: asked, invite, at }: Extract<OrganizationCommand, { type: 'AddPeople' }>,
): OrganizationEvent[] {
  const missing = [...new Map(asked.map((person) => [person.personId, person])).values()].filter(
    ({ personId }) => !Object.hasOwn(people, personId),
  )
  if (Object.keys(people).length + missing.length > maxPeople) throw new Refusal('too_many_people')
  return missing.flatMap((person): OrganizationEvent[] => {
    const { personId } = person
    return [
      { type: 'PersonAdded', data: { ...person, tenantId, at } },
      ...(invite === undefined
        ? []
        : [{ type: 'InvitationAsked', data: { personId, language: invite, at } } as const]),
    ]
  })
}

function erased(people: People, { subjectId, at }: { subjectId: string; at: string }): OrganizationEvent[] {
  const theirs = Object.entries(people).filter(([, person]) => person.subjectId === subjectId)
  return theirs.map(([personId]) => ({ type: 'PersonRemoved', data: { personId, at } }))
}

/** @throws Refusal `last_administrator` where nobody else could add people */
function requireAnother(people: People, personId: string): void {
  if (people[personId]?.role !== 'administrator') return
  const others = Object.entries(people).filter(
    ([id, { role }]) => id !== personId && role === 'administrator',
  )
  if (others.length === 0) throw new Refusal('last_administrator')
}

const wasInvited = ({ invited }: OrganizationPerson, at: string): boolean =>
  invited !== undefined && Date.parse(at) - Date.parse(invited.at) < invitationEveryMs

/** The people after an event; undefined for a customer who is one person. Never refuses: what is recorded has happened. */
export function evolvePeople(people: People | undefined, event: OrganizationEvent): People | undefined {
  switch (event.type) {
    case 'OrganizationFormed':
      return {}
    case 'OrganizationDissolved':
      return undefined
    case 'PersonAdded': {
      const { personId, subjectId, role } = event.data
      return { ...people, [personId]: { subjectId, role } }
    }
    case 'PersonRoleChanged':
      return changed(people, event.data.personId, { role: event.data.role })
    case 'PersonRemoved': {
      const { [event.data.personId]: _, ...others } = people ?? {}
      return people && others
    }
    case 'InvitationAsked':
      return changed(people, event.data.personId, { invited: { at: event.data.at, mailed: false } })
    case 'InvitationMailed': {
      const { personId } = event.data
      const at = people?.[personId]?.invited?.at ?? event.data.at
      return changed(people, personId, { invited: { at, mailed: true } })
    }
  }
}

function changed(people: People | undefined, personId: string, change: Partial<OrganizationPerson>) {
  const person = people?.[personId]
  return person === undefined ? people : { ...people, [personId]: { ...person, ...change } }
}
