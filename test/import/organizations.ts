import { z } from 'zod'
import type { Imports, Vendor } from './imports.ts'

const Customers = z.object({
  items: z.array(
    z.object({
      id: z.string(),
      email: z.string().nullable(),
      name: z.string().nullable(),
      metadata: z.record(z.string(), z.string()),
      licenseIds: z.array(z.string()),
      organization: z.unknown().optional(),
    }),
  ),
})
const People = z.object({ items: z.array(z.object({ email: z.string().nullable(), role: z.string() })) })

/** A customer as the management interface shows them. */
export type StoredCustomer = {
  id: string
  email: string | null
  name: string | null
  licenses: number
  /** Each as `address role`, in order; absent for a customer who is one person. */
  people?: string[]
}

/** The customers of a vendor by address; of those with one address, organizations come first. */
export async function customersOf({ api }: Imports, { token }: Vendor): Promise<StoredCustomer[]> {
  const { body } = await api.ask('GET', '/v1/customers?limit=100', { token })
  const { items } = Customers.parse(body)
  const found: StoredCustomer[] = []
  for (const { id, email, name, licenseIds, organization } of items) {
    const customer = { id, email, name, licenses: licenseIds.length }
    if (organization === undefined) found.push(customer)
    else {
      const answer = await api.ask('GET', `/v1/customers/${id}/people?limit=100`, { token })
      const people = People.parse(answer.body).items.map((person) => `${person.email} ${person.role}`)
      found.push({ ...customer, people: people.toSorted() })
    }
  }
  return found.toSorted((one, other) => orderOf(one).localeCompare(orderOf(other)))
}

const orderOf = ({ email, people, name }: StoredCustomer) => `${email} ${people ? 0 : 1} ${name}`

/** The same without their ids, to be compared. */
export const withoutIds = (customers: readonly StoredCustomer[]) =>
  customers.map(({ id: _, ...facts }) => facts)
