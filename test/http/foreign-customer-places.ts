import { customerId, licenseId, type Place, resellerId } from './foreign-ids.ts'

/** Requests about customers. */
export const customerPlaces: readonly Place[] = [
  [
    'reading a reseller',
    404,
    (which, owned) => ({ method: 'GET', url: `/v1/resellers/${resellerId(which, owned)}` }),
  ],
  [
    'changing a reseller',
    404,
    (which, owned) => ({
      method: 'PATCH',
      url: `/v1/resellers/${resellerId(which, owned)}`,
      body: { name: 'Mine' },
    }),
  ],
  [
    'closing a reseller',
    404,
    (which, owned) => ({ method: 'POST', url: `/v1/resellers/${resellerId(which, owned)}/close` }),
  ],
  [
    "creating a reseller of another tenant's product",
    404,
    (which) => ({
      method: 'POST',
      url: '/v1/resellers',
      body: { name: 'Mine', quotas: [{ productId: which, keyTypeId: 'owned-type', licenses: 1 }] },
    }),
  ],
  [
    'reading a customer',
    404,
    (which, owned) => ({ method: 'GET', url: `/v1/customers/${customerId(which, owned)}` }),
  ],
  [
    'reading the notes about a customer',
    404,
    (which, owned) => ({ method: 'GET', url: `/v1/customers/${customerId(which, owned)}/notes` }),
  ],
  [
    'adding a note about a customer',
    404,
    (which, owned) => ({
      method: 'POST',
      url: `/v1/customers/${customerId(which, owned)}/notes`,
      body: { text: 'Calls on Mondays.' },
    }),
  ],
  [
    'removing a note about a customer',
    404,
    (which, owned) => ({
      method: 'DELETE',
      url: `/v1/customers/${customerId(which, owned)}/notes/nte_00000000000000000000000000`,
    }),
  ],
  [
    'making a customer an organization',
    404,
    (which, owned) => ({ method: 'POST', url: `/v1/customers/${customerId(which, owned)}/organization` }),
  ],
  [
    'dissolving an organization',
    404,
    (which, owned) => ({ method: 'DELETE', url: `/v1/customers/${customerId(which, owned)}/organization` }),
  ],
  [
    'listing the people of an organization',
    404,
    (which, owned) => ({ method: 'GET', url: `/v1/customers/${customerId(which, owned)}/people` }),
  ],
  [
    'adding people to an organization',
    404,
    (which, owned) => ({
      method: 'POST',
      url: `/v1/customers/${customerId(which, owned)}/people`,
      body: { people: [{ email: 'mallory@example.com', role: 'administrator' }] },
    }),
  ],
  [
    'changing the role of a person',
    404,
    (which, owned) => ({
      method: 'PATCH',
      url: `/v1/customers/${customerId(which, owned)}/people/per_00000000000000000000000000`,
      body: { role: 'administrator' },
    }),
  ],
  [
    'inviting a person again',
    404,
    (which, owned) => ({
      method: 'POST',
      url: `/v1/customers/${customerId(which, owned)}/people/per_00000000000000000000000000/invite`,
      body: {},
    }),
  ],
  [
    'removing a person',
    404,
    (which, owned) => ({
      method: 'DELETE',
      url: `/v1/customers/${customerId(which, owned)}/people/per_00000000000000000000000000`,
    }),
  ],
  [
    'linking a license to a customer',
    404,
    (which, owned) => ({
      method: 'POST',
      url: `/v1/customers/${customerId(which, owned)}/link-license`,
      body: { licenseId: owned.license.id },
    }),
  ],
  [
    "linking another tenant's license to an own customer",
    404,
    (which, owned) => ({
      method: 'POST',
      url: `/v1/customers/${owned.ownCustomer}/link-license`,
      body: { licenseId: which === 'owned' ? owned.license.id : 'lic_00000000000000000000000000' },
    }),
  ],
  [
    'changing a customer',
    404,
    (which, owned) => ({
      method: 'PATCH',
      url: `/v1/customers/${customerId(which, owned)}`,
      body: { name: 'Mallory' },
    }),
  ],
  [
    'unlinking a license from a customer',
    404,
    (which, owned) => ({
      method: 'POST',
      url: `/v1/customers/${customerId(which, owned)}/unlink-license`,
      body: { licenseId: owned.license.id },
    }),
  ],
  [
    'merging a customer into another one',
    404,
    (which, owned) => ({
      method: 'POST',
      url: `/v1/customers/${customerId(which, owned)}/merge`,
      body: { into: owned.ownCustomer },
    }),
  ],
  [
    "merging an own customer into another tenant's",
    404,
    (which, owned) => ({
      method: 'POST',
      url: `/v1/customers/${owned.ownCustomer}/merge`,
      body: { into: customerId(which, owned) },
    }),
  ],
  [
    'undoing the merge of a customer',
    404,
    (which, owned) => ({ method: 'POST', url: `/v1/customers/${customerId(which, owned)}/unmerge` }),
  ],
  [
    'listing the licenses of a customer',
    404,
    (which, owned) => ({ method: 'GET', url: `/v1/customers/${customerId(which, owned)}/licenses` }),
  ],
  [
    'listing the sales of a customer',
    404,
    (which, owned) => ({ method: 'GET', url: `/v1/customers/${customerId(which, owned)}/sales` }),
  ],
  [
    'overriding the entitlements of a customer',
    404,
    (which, owned) => ({
      method: 'PATCH',
      url: `/v1/customers/${customerId(which, owned)}/entitlements`,
      body: { overrides: [{ entitlement: 'export', effect: 'grant' }] },
    }),
  ],
  [
    'overriding entitlements of a product',
    404,
    (which, owned) => ({
      method: 'PATCH',
      url: `/v1/customers/${owned.ownCustomer}/entitlements`,
      body: { overrides: [{ entitlement: 'export', effect: 'grant', productId: which }] },
    }),
  ],
  [
    'reading the seats of a license in use',
    404,
    (which, owned) => ({
      method: 'GET',
      url: `/v1/licenses/${which === 'owned' ? owned.floating.id : licenseId(which, owned)}/seats`,
    }),
  ],
]
