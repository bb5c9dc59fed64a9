import { licenseId, type Place, type Things, type Which } from './foreign-ids.ts'

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
