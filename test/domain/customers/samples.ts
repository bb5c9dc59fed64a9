import type { CustomerCommand } from '../../../src/domain/customers/customer.ts'
import { at } from '../licenses/license-samples.ts'

const person = { personId: 'per_1', subjectId: 'sub_1', email: 'sealed', name: null } as const

/** A command of each type. */
export const customerCommands: readonly CustomerCommand[] = [
  {
    type: 'CreateCustomer',
    customerId: 'cus_1',
    tenantId: 'acme',
    ...{ subjectId: 'sub_1', email: 'sealed', name: null, metadata: {}, at },
  },
  {
    type: 'ImportOrganization',
    customerId: 'cus_1',
    tenantId: 'acme',
    ...{ subjectId: 'sub_1', email: 'sealed', name: null, metadata: {}, at },
    people: [{ ...person, role: 'administrator' }],
  },
  { type: 'ReplaceOverrides', overrides: [], at },
  { type: 'ReplaceMeters', meters: [], at },
  { type: 'AddNote', noteId: 'nte_1', subjectId: 'sub_1', text: 'sealed', at },
  { type: 'RemoveNote', noteId: 'nte_1', at },
  { type: 'MergeCustomer', into: 'cus_2', at },
  { type: 'UnmergeCustomer', at },
  {
    type: 'FormOrganization',
    tenantId: 'acme',
    administrator: { ...person, role: 'administrator' },
    at,
  },
  {
    type: 'AddPeople',
    tenantId: 'acme',
    people: [{ ...person, personId: 'per_2', subjectId: 'sub_2', role: 'member' }],
    invite: 'en',
    at,
  },
  { type: 'ChangePersonRole', personId: 'per_2', role: 'administrator', at },
  { type: 'InvitePerson', personId: 'per_2', language: 'de', at },
  { type: 'RecordInvitation', personId: 'per_2', at },
  { type: 'RemovePerson', personId: 'per_2', at },
  { type: 'ErasePerson', subjectId: 'sub_1', at },
  { type: 'DissolveOrganization', at },
  { type: 'EraseCustomer', at },
]
