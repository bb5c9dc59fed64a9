import {
  type CustomerEntry,
  listCustomers,
  type PresentCustomer,
  startOf,
} from '../../projections/customers.ts'
import { type Keyset, type PageOf, pageOf } from '../../projections/page.ts'
import { findLicensesOfCustomers, findLicensesOfPeople } from '../../projections/search/licenses.ts'
import { findCustomersOfPeople, findSalesOfPeople } from '../../projections/search/people.ts'
import type { IssuedLicense } from '../domain/licenses/license.ts'
import { Refusal } from '../domain/refusal.ts'
import type { KnownSale } from '../domain/sales/sale.ts'
import type { Ports } from '../ports.ts'
import { containsPart, normalized } from '../vault/people-parts.ts'
import type { Person } from '../vault/subjects.ts'

/** What contains the text: the address, or only the name. */
export type PersonMatch = 'e-mail' | 'name'

/** What belongs to people whose address or name contains a text. */
export type FoundPeople = {
  licenses: { license: IssuedLicense; by: PersonMatch }[]
  sales: { sale: KnownSale; by: PersonMatch }[]
  customers: { customer: PresentCustomer; by: PersonMatch }[]
  /** There may be more than is found here. */
  more: boolean
}

/** Rows of each kind that are decrypted for one search. */
const maxOpened = 500

/**
 * Finds the licenses, sales and customers of people by three or more characters of their address or name, newest first.
 * The index of the vault names candidates; each row is decrypted, and kept if it contains the text.
 */
export async function findByPersonPart(
  ports: Ports<'db' | 'subjects'>,
  tenantId: string,
  text: string,
): Promise<FoundPeople> {
  const { db } = ports
  const people = await peopleLike(ports, tenantId, text)
  const [held, sold, known] = await Promise.all([
    findLicensesOfPeople(db, tenantId, people.subjectIds, maxOpened),
    findSalesOfPeople(db, tenantId, people.subjectIds, maxOpened),
    findCustomersOfPeople(db, tenantId, people.subjectIds, maxOpened),
  ])
  const [licenses, sales, customers] = await Promise.all([
    people.matching(held, ({ holder }) => holder),
    people.matching(sold, ({ customer }) => customer),
    people.matching(known, (customer) => customer),
  ])
  const ofCustomer = new Map(customers.map(({ row, by }) => [row.customerId, by]))
  const linked = await findLicensesOfCustomers(db, tenantId, [...ofCustomer.keys()], maxOpened)
  return {
    licenses: withLinked(
      licenses.map(({ row: license, by }) => ({ license, by })),
      linked.map((license) => ({ license, by: ofCustomer.get(license.customerId ?? '') ?? 'name' })),
    ),
    sales: sales.map(({ row: sale, by }) => ({ sale, by })),
    customers: customers.map(({ row: customer, by }) => ({ customer, by })),
    more: people.tooMany || [held, sold, known, linked].some(({ length }) => length >= maxOpened),
  }
}

/**
 * Finds customers as {@link findByPersonPart} does.
 * @returns them, newest first, and whether there may be more
 */
export async function findCustomersByPersonPart(
  ports: Ports<'db' | 'subjects'>,
  tenantId: string,
  text: string,
): Promise<{ customers: PresentCustomer[]; more: boolean }> {
  const people = await peopleLike(ports, tenantId, text)
  const known = await findCustomersOfPeople(ports.db, tenantId, people.subjectIds, maxOpened)
  const customers = await people.matching(known, (customer) => customer)
  return {
    customers: customers.map(({ row }) => row),
    more: people.tooMany || known.length >= maxOpened,
  }
}

/** What narrows a list of customers: to people, by their whole address and a part of their name, and to those of a reseller. */
export type CustomerSought = {
  email?: string | undefined
  name?: string | undefined
  resellerId?: string | undefined
}

/**
 * Lists customers by age, and only those who are sought. A page by name may have fewer customers than asked for, and still a
 * next one: no more than {@link maxOpened} of the people whom the index names are decrypted for a page.
 * @throws Refusal `name_too_common` when the index names more people than it lists
 */
export async function listCustomersSought(
  ports: Ports<'db' | 'subjects'>,
  tenantId: string,
  { email, name, resellerId }: CustomerSought,
  keyset: Keyset,
): Promise<PageOf<CustomerEntry>> {
  const { db, subjects } = ports
  const ofAddress = email === undefined ? undefined : [await subjects.findSubject(tenantId, email)]
  const owners = ofAddress?.filter((subjectId) => subjectId !== undefined)
  if (name === undefined) return listCustomers(db, tenantId, { subjectIds: owners, resellerId }, keyset)
  const part = normalized(name)
  // How many people of the vendor the index names is nothing that a reseller may know.
  const found =
    owners || resellerId !== undefined
      ? { subjectIds: owners, tooMany: false }
      : await subjects.index.candidates(tenantId, part)
  if (found.tooMany) throw new Refusal('name_too_common')
  const { subjectIds } = found
  const read = await listCustomers(db, tenantId, { subjectIds, resellerId }, { ...keyset, limit: maxOpened })
  const people = await subjects.openPeople(
    tenantId,
    read.items.map(({ customer }) => customer),
  )
  const named = read.items.filter((_, at) =>
    containsPart({ email: null, name: people[at]?.name ?? null }, part),
  )
  const page = pageOf(named, keyset.limit, startOf)
  return { items: page.items, next: page.next ?? read.next }
}

/** The people whose address or name may contain a text, and what of theirs really does. */
async function peopleLike({ subjects }: Ports<'subjects'>, tenantId: string, text: string) {
  const part = normalized(text)
  const [{ subjectIds: like, tooMany }, exact] = await Promise.all([
    subjects.index.candidates(tenantId, part),
    text.includes('@') ? subjects.findSubject(tenantId, text.trim()) : undefined,
  ])
  return {
    subjectIds: [...new Set([...(exact === undefined ? [] : [exact]), ...like])],
    tooMany,
    /** Those of the rows whose person contains the text. */
    async matching<Row>(rows: readonly Row[], personOf: (row: Row) => Sealed | null) {
      const people = await subjects.openPeople(tenantId, rows.map(personOf))
      return rows.flatMap((row, at) => {
        const by = matchOf(people[at], part)
        return by ? [{ row, by }] : []
      })
    },
  }
}

type Sealed = { subjectId: string; email: string | null; name: string | null }

function matchOf(person: Person | undefined, part: string): PersonMatch | undefined {
  if (!person || !containsPart(person, part)) return undefined
  return containsPart({ ...person, name: null }, part) ? 'e-mail' : 'name'
}

/** The licenses that people hold and those that are linked to them, once each, newest first. */
function withLinked(held: FoundPeople['licenses'], linked: FoundPeople['licenses']): FoundPeople['licenses'] {
  const all = new Map([...linked, ...held].map((found) => [found.license.licenseId, found]))
  return [...all.values()].sort(
    ({ license: a }, { license: b }) =>
      b.createdAt.localeCompare(a.createdAt) || b.licenseId.localeCompare(a.licenseId),
  )
}
