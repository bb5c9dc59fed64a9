import { customerId, licenseId, type Place, type Things, type Which } from './foreign-ids.ts'

const keyed = { amount: '1', idempotencyKey: 'one' }
const used = (which: Which, { license, unknownKey }: Things) => ({
  ...{ product_id: 'shared-name', license_key: which === 'owned' ? license.licenseKey : unknownKey },
  ...{ meter: 'calls', amount: '1', idempotency_key: 'one' },
})
const hold = (which: Which, things: Things) =>
  `hld_00000000000000000000000000.${licenseId(which, things)}.calls`

/** Requests about what licenses use. */
export const meterPlaces: readonly Place[] = [
  [
    'reading the meters of a license',
    404,
    (which, owned) => ({ method: 'GET', url: `/v1/licenses/${licenseId(which, owned)}/meters` }),
  ],
  [
    'listing what was counted under a meter',
    404,
    (which, owned) => ({ method: 'GET', url: `/v1/licenses/${licenseId(which, owned)}/meters/calls/uses` }),
  ],
  [
    'reading what a license used over time',
    404,
    (which, owned) => ({ method: 'GET', url: `/v1/licenses/${licenseId(which, owned)}/usage` }),
  ],
  [
    'reading what a customer used over time',
    404,
    (which, owned) => ({ method: 'GET', url: `/v1/customers/${customerId(which, owned)}/usage` }),
  ],
  [
    'reading what a product used over time',
    404,
    (which) => ({ method: 'GET', url: `/v1/products/${which}/usage` }),
  ],
  [
    'exporting what a license used',
    404,
    (which, owned) => ({ method: 'GET', url: `/v1/usage/export?license=${licenseId(which, owned)}` }),
  ],
  [
    'exporting what a customer used',
    404,
    (which, owned) => ({ method: 'GET', url: `/v1/usage/export?customer=${customerId(which, owned)}` }),
  ],
  [
    'adding a credit',
    404,
    (which, owned) => ({
      method: 'POST',
      url: `/v1/licenses/${licenseId(which, owned)}/credits`,
      body: { meter: 'calls', ...keyed },
    }),
  ],
  [
    'withdrawing a credit',
    404,
    (which, owned) => ({
      method: 'POST',
      url: `/v1/licenses/${licenseId(which, owned)}/meters/calls/credits/crd_1/withdraw`,
      body: { reason: 'refunded' },
    }),
  ],
  [
    'correcting what was used',
    404,
    (which, owned) => ({
      method: 'POST',
      url: `/v1/licenses/${licenseId(which, owned)}/meters/calls/corrections`,
      body: { ...keyed, reason: 'twice' },
    }),
  ],
  [
    'reading the meters of a customer',
    404,
    (which, owned) => ({ method: 'GET', url: `/v1/customers/${customerId(which, owned)}/meters` }),
  ],
  [
    'listing what was counted under a meter of a customer',
    404,
    (which, owned) => ({ method: 'GET', url: `/v1/customers/${customerId(which, owned)}/meters/calls/uses` }),
  ],
  [
    'adding a credit to a customer',
    404,
    (which, owned) => ({
      method: 'POST',
      url: `/v1/customers/${customerId(which, owned)}/credits`,
      body: { meter: 'calls', ...keyed },
    }),
  ],
  [
    'withdrawing a credit of a customer',
    404,
    (which, owned) => ({
      method: 'POST',
      url: `/v1/customers/${customerId(which, owned)}/meters/calls/credits/crd_1/withdraw`,
      body: { reason: 'refunded' },
    }),
  ],
  [
    'correcting what licenses of a customer used',
    404,
    (which, owned) => ({
      method: 'POST',
      url: `/v1/customers/${customerId(which, owned)}/meters/calls/corrections`,
      body: { ...keyed, reason: 'twice' },
    }),
  ],
  [
    'consuming',
    200,
    (which, owned) => ({ method: 'POST', url: '/v1/licenses/consume', body: used(which, owned) }),
  ],
  [
    'holding',
    200,
    (which, owned) => ({
      method: 'POST',
      url: '/v1/licenses/hold',
      body: { ...used(which, owned), seconds: 60 },
    }),
  ],
  [
    'committing a hold',
    409,
    (which, owned) => ({
      method: 'POST',
      url: '/v1/licenses/hold/commit',
      body: { hold_id: hold(which, owned), amount: '1' },
    }),
  ],
  [
    'releasing a hold',
    409,
    (which, owned) => ({
      method: 'POST',
      url: '/v1/licenses/hold/release',
      body: { hold_id: hold(which, owned) },
    }),
  ],
]
