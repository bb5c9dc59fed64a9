import { metersOfCustomers, metersOfLicenses, type OwnedMeters } from '../../../commands/meters/owners.ts'

/** Whose meters routes are about, and the words for it. */
export type MeterHolder = {
  path: string
  tag: string
  scopes: { read: 'licenses:read' | 'customers:read'; write: 'licenses:write' | 'customers:write' }
  operations: Record<'list' | 'lines' | 'credit' | 'withdrawal' | 'correction', string>
  name: string
  users: string
  meters: string
  lines: string
  credits: string
  owned: OwnedMeters
}

export const ofLicenses: MeterHolder = {
  path: '/v1/licenses',
  tag: 'Licenses',
  scopes: { read: 'licenses:read', write: 'licenses:write' },
  operations: {
    list: 'listLicenseMeters',
    lines: 'listMeterLines',
    credit: 'addCredit',
    withdrawal: 'withdrawCredit',
    correction: 'correctUse',
  },
  name: 'a license',
  users: 'a license has',
  meters:
    'The meters are those of its key type as it is now; in place of one that its customer has too, that of the customer, which all ' +
    "of the customer's licenses share.",
  lines:
    'Lines of a meter that the key type no longer has stay. What the license used of a meter of its customer is in the lines of ' +
    'the customer.',
  credits: ' Where the customer of the license has the meter, add the credit to the customer.',
  owned: metersOfLicenses,
}

export const ofCustomers: MeterHolder = {
  path: '/v1/customers',
  tag: 'Customers',
  scopes: { read: 'customers:read', write: 'customers:write' },
  operations: {
    list: 'listCustomerMeters',
    lines: 'listCustomerMeterLines',
    credit: 'addCustomerCredit',
    withdrawal: 'withdrawCustomerCredit',
    correction: 'correctCustomerUse',
  },
  name: 'a customer',
  users: "a customer's licenses have",
  meters: 'The meters are those that all licenses of the customer share, as they are now.',
  lines: 'Each names the license that used it. Lines of a meter that the customer no longer has stay.',
  credits: '',
  owned: metersOfCustomers,
}
