import { z } from 'zod'
import type { CustomerEntry, PresentCustomer } from '../../../projections/customers.ts'
import { listMergedInto } from '../../../projections/merges.ts'
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
    const { people } = await find(ports, tenantId, params.id)
    for (const subjectId of people) await refuseMember(ports, tenantId, subjectId)
  },
  async describe(ports, tenantId, { params }) {
    const { entry, people, merged } = await find(ports, tenantId, params.id)
    const { customer } = entry
    const [person] = await ports.subjects.openPeople(tenantId, [customer])
    const { licenses, customers, sales } = await countPersonRecords(ports.db, tenantId, people)
    const former = customer.formerSubjects?.length ?? 0
    const details: [string, string][] = [
      ...count('Earlier addresses, erased too', former),
      ...count('Customers merged into this one, erased too', merged.length),
    ]
    return {
      summary: `Erase ${person?.email ?? 'an unknown person'}, the person behind the customer ${customer.customerId}`,
      details: details.length === 0 ? undefined : details,
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
    const { people } = await find(ports, tenantId, params.id)
    return [{ what: 'person_erased', ...(await countPersonRecords(ports.db, tenantId, people)) }]
  },
  async run(ports, tenantId, { params }, { origin }): Promise<CustomerEntry> {
    const { people } = await find(ports, tenantId, params.id)
    for (const subjectId of people) await eraseSubject(ports, tenantId, subjectId, origin)
    return (await find(ports, tenantId, params.id)).entry
  },
})

const count = (label: string, many: number): [string, string][] => (many === 0 ? [] : [[label, String(many)]])

type Found = {
  entry: CustomerEntry
  /** The customers that were merged into this one. */
  merged: readonly PresentCustomer[]
  /** The people of the vault behind all of them: those of the earlier addresses, and of the present ones. */
  people: readonly string[]
}

/** @throws Refusal `customer_not_found` */
async function find(ports: Ports<'db'>, tenantId: string, customerId: string): Promise<Found> {
  if (!isId('cus', customerId)) throw new Refusal('customer_not_found')
  const entry = await requireCustomer(ports, tenantId, customerId)
  const merged = await listMergedInto(ports.db, tenantId, customerId)
  const behind = [...merged, entry.customer].flatMap(({ formerSubjects = [], subjectId }) => [
    ...formerSubjects,
    subjectId,
  ])
  return { entry, merged, people: [...new Set(behind)] }
}
