import type { OrganizationRow } from '../../commands/organizations/import.ts'
import type { PersonInput } from '../../commands/organizations/people.ts'
import { maxPersonName } from '../../domain/organizations/list.ts'
import { maxPeople } from '../../domain/organizations/people.ts'
import { asciiEmail } from '../../domain/values.ts'
import type { ForeignLicense, ForeignOrganization, ForeignPerson, SourceName } from '../foreign.ts'
import { metadataOf, plainText } from './row.ts'
import type { ProductOf } from './targets.ts'

/** What an organization becomes, with sentences about what of it is left out. */
export type PlannedOrganization = {
  organization: ForeignOrganization
  row: OrganizationRow
  leftOut: string[]
}

/** The organizations of an export. */
export type OrganizationPlan = {
  planned: readonly PlannedOrganization[]
  /** Those that are customers here already, as the operator said. */
  mapped: readonly { organization: ForeignOrganization; customerId: string }[]
  /** Those that cannot be taken, and why. */
  problems: readonly { organization: ForeignOrganization; problem: string }[]
}

type Input = {
  source: SourceName
  /** Our customers by the ids of organizations there. */
  mapped: ReadonlyMap<string, string>
}

/** Collects the organizations of licenses that are read. */
export function createOrganizations({ source, mapped }: Input) {
  const licensed = new Map<string, ForeignOrganization>()
  return {
    /** Passes licenses on, and notes the organizations of those that go to one of our products. */
    async *seen<Other extends { problem: string }>(
      licenses: AsyncIterable<ForeignLicense | Other>,
      productOf: ProductOf,
    ): AsyncIterable<ForeignLicense | Other> {
      for await (const license of licenses) {
        if (!('problem' in license) && license.organization && productOf(license.productId)) {
          const { organization } = license
          if (!licensed.has(organization.externalId)) licensed.set(organization.externalId, organization)
        }
        yield license
      }
    },
    /** @param all also those that have no licenses */
    plan(all: readonly ForeignOrganization[]): OrganizationPlan {
      const planned: PlannedOrganization[] = []
      const known: { organization: ForeignOrganization; customerId: string }[] = []
      const problems = all.flatMap((organization) =>
        licensed.has(organization.externalId)
          ? []
          : [{ organization, problem: 'None of its licenses is imported, so it is not either.' }],
      )
      for (const organization of licensed.values()) {
        const customerId = mapped.get(organization.externalId)
        if (customerId !== undefined) {
          known.push({ organization, customerId })
          continue
        }
        const becomes = organizationRowOf(organization, source)
        if ('problem' in becomes) problems.push({ organization, problem: becomes.problem })
        else planned.push({ organization, ...becomes })
      }
      return { planned, mapped: known, problems }
    },
  }
}

/** An organization with its people becomes one append, and the event store accepts 1 MiB for each. */
const maxBytes = 128 * 1024

/**
 * The row by which an organization is imported. Its customer has its own address, or else that of its first administrator; with an
 * address and no administrator, that address is the first one, as where a customer becomes an organization.
 */
function organizationRowOf(
  organization: ForeignOrganization,
  source: SourceName,
): { row: OrganizationRow; leftOut: string[] } | { problem: string } {
  const leftOut = [...organization.leftOut]
  const note = (sentence: string) => void leftOut.push(sentence)
  const own = asciiEmail(organization.email?.trim() ?? '')
  if (own === undefined && (organization.email ?? '') !== '')
    note('Its address is left out: it is not valid.')
  const people = peopleOf(organization.people, note)
  const first = people.find(({ role }) => role === 'administrator')
  const email = own ?? first?.email
  if (email === undefined) return { problem: 'It has no administrator with an email address.' }
  if (first === undefined) note('It has no administrator there, so its own address is one here.')
  const buyer: PersonInput = { email, role: 'administrator' }
  const others = people.filter((person) => !isSame(person, buyer))
  const [itself = buyer] = people.filter((person) => isSame(person, buyer))
  return {
    row: {
      source,
      externalId: organization.externalId,
      email,
      name: plainText(organization.name ?? '', maxPersonName) || null,
      metadata: metadataOf(organization, source, note),
      people: first === undefined ? [{ ...itself, role: 'administrator' }, ...others] : people,
    },
    leftOut,
  }
}

const isSame = (one: PersonInput, other: PersonInput): boolean =>
  one.email.toLowerCase() === other.email.toLowerCase()

/** People with a usable address, each once: as an administrator if they are one anywhere. Administrators come first. */
function peopleOf(people: readonly ForeignPerson[], note: (sentence: string) => void): PersonInput[] {
  const distinct = new Map<string, PersonInput>()
  let without = 0
  for (const { email, name, role } of people.toSorted(administratorsFirst)) {
    const address = asciiEmail(email?.trim() ?? '')
    if (address === undefined) without++
    else if (!distinct.has(address.toLowerCase()))
      distinct.set(address.toLowerCase(), {
        email: address,
        name: plainText(name ?? '', maxPersonName) || null,
        role,
      })
  }
  if (without > 0) note(`${without} of its people are left out: they have no usable email address.`)
  let bytes = 0
  const kept = [...distinct.values()].filter(({ email, name }, index) => {
    bytes += Buffer.byteLength(email) + Buffer.byteLength(name ?? '')
    return index < maxPeople - 1 && bytes <= maxBytes
  })
  const beyond = distinct.size - kept.length
  if (beyond > 0) note(`${beyond} of its ${distinct.size} people are left out: ${kept.length} fit.`)
  return kept
}

const administratorsFirst = (one: ForeignPerson, other: ForeignPerson): number =>
  Number(one.role === 'member') - Number(other.role === 'member')
