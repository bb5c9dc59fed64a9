import type { CustomerEntry, PresentCustomer } from '../../../projections/customers.ts'
import { findPerson, type SealedOrganizationPerson } from '../../../projections/people.ts'
import { findOpenPortal } from '../../../projections/portal.ts'
import { type Customer, customers } from '../../domain/customers/customer.ts'
import type { OrganizationRole } from '../../domain/organizations/events.ts'
import type { NewPerson, OrganizationCommand } from '../../domain/organizations/people.ts'
import type { PortalLanguage } from '../../domain/portal/texts.ts'
import { Refusal } from '../../domain/refusal.ts'
import type { Ports } from '../../ports.ts'
import { requireCustomer } from '../customers/customers.ts'
import { freeLostSeats } from '../licenses/person-seats.ts'
import { causeOf, momentOf, type Origin } from '../origin.ts'

/** What changes of the people of an organization use. */
export type PeoplePorts = Ports<'db' | 'deriveId' | 'execute' | 'ledger' | 'now' | 'subjects'>

/** An organization, by its customer. */
export type Place = { tenantId: string; customerId: string }

/**
 * Makes a customer an organization, with the customer's own person as the first administrator; nothing changes for one that is
 * an organization already. Everything about its people is decided on the customer's stream, so that it is exact also when
 * several administrators change them at once.
 * @throws Refusal `customer_not_found`, `customer_erased`, `customer_merged`
 */
export async function formOrganization(
  ports: PeoplePorts,
  { tenantId, customerId }: Place,
  origin: Origin,
): Promise<CustomerEntry> {
  const { licenseIds } = await requireCustomer(ports, tenantId, customerId)
  const at = momentOf(ports)
  const { state } = await ports.execute(
    customers,
    customerId,
    (customer) => {
      const administrator = buyerOf(ports, present(customer))
      return { type: 'FormOrganization', tenantId, administrator, at }
    },
    causeOf(origin, at),
  )
  return { customer: present(state), licenseIds }
}

/** @throws Refusal `customer_not_found` */
function present(customer: Customer): PresentCustomer {
  if (customer.status === 'absent') throw new Refusal('customer_not_found')
  return customer
}

/** @throws Refusal `customer_erased` */
function buyerOf(
  ports: Ports<'deriveId'>,
  { tenantId, customerId, subjectId, email, name }: PresentCustomer,
): NewPerson {
  if (email === null) throw new Refusal('customer_erased')
  const personId = personIdOf(ports, { tenantId, customerId }, subjectId)
  return { personId, subjectId, email, name, role: 'administrator' }
}

/** The id of a person of an organization: the same, no matter who adds them. */
export const personIdOf = (
  { deriveId }: Ports<'deriveId'>,
  { tenantId, customerId }: Place,
  subjectId: string,
) => deriveId('per', tenantId, customerId, subjectId)

/**
 * Makes an organization a customer of one person again. Its people have no access any more, nor seats of its licenses.
 * @throws Refusal `customer_not_found`
 */
export async function dissolveOrganization(
  ports: PeoplePorts,
  place: Place,
  origin: Origin,
): Promise<CustomerEntry> {
  const dissolved = await change(ports, place, { type: 'DissolveOrganization', at: momentOf(ports) }, origin)
  await freeLostSeats(ports, place.customerId, origin)
  return dissolved
}

/** A person to be added to an organization. */
export type PersonInput = { email: string; name?: string | null | undefined; role: OrganizationRole }

/** A person who was to be added, as they are in the organization. */
export type AddedPerson = { personId: string; email: string; role: OrganizationRole }

/**
 * Adds people to an organization; those who are in it already stay as they are. All are added, or none.
 * @param invite the language of the invitations that are mailed; undefined for none
 * @returns all of them as they are in the organization now, each once; without whom a repeated request finds removed
 * @throws Refusal `customer_not_found`, `not_an_organization`, `too_many_people`, `portal_closed`
 */
export async function addPeople(
  ports: PeoplePorts,
  place: Place,
  input: readonly PersonInput[],
  invite: PortalLanguage | undefined,
  origin: Origin,
): Promise<AddedPerson[]> {
  const { tenantId, customerId } = place
  const { customer } = await requireCustomer(ports, tenantId, customerId)
  // Before anything of theirs is sealed.
  if (customer.people === undefined) throw new Refusal('not_an_organization')
  if (invite !== undefined) await requirePortal(ports, tenantId)
  const sealed = await ports.subjects.sealPeople(
    tenantId,
    input.map(({ email, name = null }) => ({ email, name })),
  )
  const people = sealed.map((person, index) => ({
    ...person,
    personId: personIdOf(ports, place, person.subjectId),
    role: input[index]?.role ?? 'member',
  }))
  const command = { type: 'AddPeople', tenantId, people, invite, at: momentOf(ports) } as const
  const { customer: after } = await change(ports, place, command, origin)
  const emails = new Map(people.map(({ personId }, index) => [personId, input[index]?.email ?? '']))
  return [...emails].flatMap(([personId, email]) => {
    const role = after.people?.[personId]?.role
    return role === undefined ? [] : [{ personId, email, role }]
  })
}

/**
 * Changes what a person may do.
 * @throws Refusal `customer_not_found`, `not_an_organization`, `person_not_found`, `last_administrator`
 */
export async function changePersonRole(
  ports: PeoplePorts,
  place: Place,
  { personId, role }: { personId: string; role: OrganizationRole },
  origin: Origin,
): Promise<SealedOrganizationPerson> {
  await change(ports, place, { type: 'ChangePersonRole', personId, role, at: momentOf(ports) }, origin)
  return requirePerson(ports, place, personId)
}

/**
 * Removes a person, who has no access to the licenses of the organization from then on, nor seats of them: a reaction frees what a crash
 * leaves.
 * @throws Refusal `customer_not_found`, `not_an_organization`, `person_not_found`, `last_administrator`
 */
export async function removePerson(
  ports: PeoplePorts,
  place: Place,
  personId: string,
  origin: Origin,
): Promise<void> {
  await change(ports, place, { type: 'RemovePerson', personId, at: momentOf(ports) }, origin)
  await freeLostSeats(ports, place.customerId, origin)
}

/**
 * Asks to mail an invitation to a person.
 * @param invitation.language that of their last invitation, else English, when it is absent
 * @throws Refusal `customer_not_found`, `not_an_organization`, `person_not_found`, `invited_recently`, `portal_closed`
 */
export async function invitePerson(
  ports: PeoplePorts,
  place: Place,
  { personId, language: chosen }: { personId: string; language?: PortalLanguage | undefined },
  origin: Origin,
): Promise<SealedOrganizationPerson> {
  await requireCustomer(ports, place.tenantId, place.customerId)
  await requirePortal(ports, place.tenantId)
  const language = chosen ?? (await requirePerson(ports, place, personId)).language ?? 'en'
  await change(ports, place, { type: 'InvitePerson', personId, language, at: momentOf(ports) }, origin)
  return requirePerson(ports, place, personId)
}

/** @throws Refusal `portal_closed` where there is nothing to be invited to */
async function requirePortal({ db }: Ports<'db'>, tenantId: string): Promise<void> {
  if (!(await findOpenPortal(db, tenantId))) throw new Refusal('portal_closed')
}

/** @throws Refusal `person_not_found` */
async function requirePerson(
  { db }: Ports<'db'>,
  { tenantId, customerId }: Place,
  personId: string,
): Promise<SealedOrganizationPerson> {
  const person = await findPerson(db, tenantId, customerId, personId)
  if (!person) throw new Refusal('person_not_found')
  return person
}

async function change(
  ports: PeoplePorts,
  { tenantId, customerId }: Place,
  command: OrganizationCommand,
  origin: Origin,
): Promise<CustomerEntry> {
  const { licenseIds } = await requireCustomer(ports, tenantId, customerId)
  const { state } = await ports.execute(customers, customerId, command, causeOf(origin, command.at), {
    run: origin.run,
  })
  return { customer: present(state), licenseIds }
}
