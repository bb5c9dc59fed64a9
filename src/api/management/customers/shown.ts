import { z } from 'zod'
import type { CustomerEntry } from '../../../../projections/customers.ts'
import { openOverrides } from '../../../commands/customers/overrides.ts'
import { withoutReasons } from '../../../domain/customers/overrides.ts'
import type { Ports } from '../../../ports.ts'
import { customerOut, customerView } from './schemas.ts'

/** An answer with one customer. */
export const oneCustomer = z.object({ customer: customerOut })

/** The public form of customers, with their people as far as they can be read. */
export async function views(ports: Ports<'subjects'>, tenantId: string, entries: CustomerEntry[]) {
  const people = await ports.subjects.openPeople(
    tenantId,
    entries.map(({ customer }) => customer),
  )
  // A past state of a customer who was erased since may have reasons that were recorded in clear.
  const overrides = await openOverrides(
    ports,
    tenantId,
    entries.map(({ customer }, index) =>
      people[index]?.email === null ? withoutReasons(customer.overrides) : customer.overrides,
    ),
  )
  return entries.map((entry, index) =>
    customerView(entry, people[index] ?? { email: null, name: null }, overrides[index] ?? []),
  )
}

/** As {@link views}, of one customer, as {@link oneCustomer} has it. */
export async function shown(ports: Ports<'subjects'>, tenantId: string, entry: CustomerEntry) {
  const [customer] = await views(ports, tenantId, [entry])
  if (!customer) throw new Error('one entry gives one view')
  return { customer }
}
