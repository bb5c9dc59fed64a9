import { z } from 'zod'
import type { CustomerEntry } from '../../../projections/customers/queries.ts'
import { findPersonRecords } from '../../../projections/subjects/queries.ts'
import { requireCustomer } from '../../commands/customers/customers.ts'
import { eraseSubject, refuseMember } from '../../commands/customers/erasure.ts'
import { isId } from '../../credentials/id.ts'
import { Refusal } from '../../domain/refusal.ts'
import type { Ports } from '../../ports.ts'
import { gatedOperation } from '../operation.ts'
import { counted } from '../words.ts'

const input = z.object({ params: z.strictObject({ id: z.string() }) })

export const eraseCustomer = gatedOperation({
  name: 'customer.erase',
  title: 'Erase a person',
  method: 'DELETE',
  path: '/v1/customers/{id}',
  scope: 'customers:write',
  input,
  async check(services, tenantId, { params }) {
    const { customer } = await find(services, tenantId, params.id)
    await refuseMember(services, tenantId, customer.subjectId)
  },
  async describe(services, tenantId, { params }) {
    const { customer } = await find(services, tenantId, params.id)
    const [person] = await services.subjects.openPeople(tenantId, [customer])
    const { licenseIds, customerIds, sales } = await findPersonRecords(
      services.db,
      tenantId,
      customer.subjectId,
    )
    return {
      summary: `Erase ${person?.email ?? 'an unknown person'}, the person behind the customer ${customer.customerId}`,
      consequences: [
        'Their email address and name become unreadable everywhere, immediately and permanently',
        `${counted(licenseIds.length, 'license', 'licenses')}, ${counted(customerIds.length, 'customer', 'customers')} ` +
          `and ${counted(sales.length, 'sale', 'sales')} are marked as erased and keep working`,
        'Their payment notifications and stored emails are destroyed',
        'This cannot be undone',
      ],
      state: {
        erased: customer.erasedAt !== null,
        licenses: licenseIds.length,
        customers: customerIds.length,
        sales: sales.length,
      },
    }
  },
  async run(services, tenantId, { params }, { origin }): Promise<CustomerEntry> {
    const { customer } = await find(services, tenantId, params.id)
    await eraseSubject(services, tenantId, customer.subjectId, origin)
    return find(services, tenantId, params.id)
  },
})

/** @throws Refusal `customer_not_found` */
async function find(services: Ports<'db'>, tenantId: string, customerId: string): Promise<CustomerEntry> {
  if (!isId('cus', customerId)) throw new Refusal('customer_not_found')
  return requireCustomer(services, tenantId, customerId)
}
