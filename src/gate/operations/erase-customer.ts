import { z } from 'zod'
import type { CustomerEntry } from '../../../projections/customers.ts'
import { countPersonRecords } from '../../../projections/subjects.ts'
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
  async check(ports, tenantId, { params }) {
    const { customer } = await find(ports, tenantId, params.id)
    for (const subjectId of peopleOf(customer)) await refuseMember(ports, tenantId, subjectId)
  },
  async describe(ports, tenantId, { params }) {
    const { customer } = await find(ports, tenantId, params.id)
    const [person] = await ports.subjects.openPeople(tenantId, [customer])
    const { licenses, customers, sales } = await countPersonRecords(ports.db, tenantId, peopleOf(customer))
    const former = customer.formerSubjects?.length ?? 0
    return {
      summary: `Erase ${person?.email ?? 'an unknown person'}, the person behind the customer ${customer.customerId}`,
      consequences: [
        'Their email address and name become unreadable everywhere, immediately and permanently',
        `${counted(licenses.count, 'license', 'licenses')}, ${counted(customers.count, 'customer', 'customers')} ` +
          `and ${counted(sales.count, 'sale', 'sales')} are marked as erased and keep working`,
        ...(former === 0
          ? []
          : [
              `So does everything of ${counted(former, 'earlier address', 'earlier addresses')} of the customer`,
            ]),
        'Their payment notifications and stored emails are destroyed',
        'This cannot be undone',
      ],
      state: {
        erased: customer.erasedAt !== null,
        licenses: licenses.count,
        customers: customers.count,
        sales: sales.count,
      },
    }
  },
  unrehearsed: true,
  async facts(ports, tenantId, { params }) {
    const { customer } = await find(ports, tenantId, params.id)
    const found = await countPersonRecords(ports.db, tenantId, peopleOf(customer))
    return [{ what: 'person_erased', ...found }]
  },
  async run(ports, tenantId, { params }, { origin }): Promise<CustomerEntry> {
    const { customer } = await find(ports, tenantId, params.id)
    for (const subjectId of peopleOf(customer)) await eraseSubject(ports, tenantId, subjectId, origin)
    return find(ports, tenantId, params.id)
  },
})

/** The people of the vault behind a customer: those of the earlier addresses, and of the present one. */
const peopleOf = ({ formerSubjects = [], subjectId }: CustomerEntry['customer']): string[] => [
  ...formerSubjects,
  subjectId,
]

/** @throws Refusal `customer_not_found` */
async function find(ports: Ports<'db'>, tenantId: string, customerId: string): Promise<CustomerEntry> {
  if (!isId('cus', customerId)) throw new Refusal('customer_not_found')
  return requireCustomer(ports, tenantId, customerId)
}
