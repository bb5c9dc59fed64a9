import { z } from 'zod'
import type { CustomerEntry } from '../../../projections/customers.ts'
import { countPersonRecords } from '../../../projections/subjects.ts'
import { requireCustomer } from '../../commands/customers/customers.ts'
import { eraseSubject, refuseMember } from '../../commands/customers/erasure.ts'
import { isId } from '../../credentials/id.ts'
import { Refusal } from '../../domain/refusal.ts'
import type { Ports } from '../../ports.ts'
import { gatedOperation } from '../operation.ts'

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
      details: former === 0 ? undefined : [['Earlier addresses, erased too', String(former)]],
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
