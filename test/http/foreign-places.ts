import type { Method } from '../harness/api.ts'

/** What the owner has, and the same things of the stranger. */
export type Things = {
  license: { id: string; licenseKey: string }
  sameName: { id: string; licenseKey: string }
  customer: string
  confirmation: string
  testPurchase: string
  delivery: string
  endpoint: string
  replay: string
  sale: string
  ownCustomer: string
  token: string
  unknownKey: string
}

type Which = 'owned' | 'absent'
type Request = { method: Method; url: string; body?: unknown }

const customerId = (which: Which, { customer }: Things) =>
  which === 'owned' ? customer : 'cus_00000000000000000000000000'
const licenseId = (which: Which, { license }: Things) =>
  which === 'owned' ? license.id : 'lic_00000000000000000000000000'
const saleId = (which: Which, { sale }: Things) =>
  which === 'owned' ? sale : 'sal_00000000000000000000000000'

const deliveryId = (which: Which, { delivery }: Things) =>
  which === 'owned' ? delivery : 'whd_00000000000000000000000000'

const endpointId = (which: Which, { endpoint }: Things) =>
  which === 'owned' ? endpoint : 'whe_00000000000000000000000000'

const replayId = (which: Which, { replay }: Things) =>
  which === 'owned' ? replay : 'whr_00000000000000000000000000'

/**
 * Requests with the owner's id in every position where an id can occur, each with the same request for an unknown
 * id.
 */
export const places: [what: string, status: number, request: (which: Which, things: Things) => Request][] = [
  ['reading a product', 404, (which) => ({ method: 'GET', url: `/v1/products/${which}` })],
  [
    'changing a product',
    404,
    (which) => ({ method: 'PATCH', url: `/v1/products/${which}`, body: { name: 'Mine' } }),
  ],
  ['reading how keys are sent', 404, (which) => ({ method: 'GET', url: `/v1/products/${which}/mail` })],
  [
    'saying how keys are sent',
    404,
    (which) => ({ method: 'PUT', url: `/v1/products/${which}/mail`, body: { enabled: false } }),
  ],
  [
    'searching a license',
    200,
    (which, things) => ({
      method: 'POST',
      url: '/v1/licenses/search',
      body: { text: licenseId(which, things) },
    }),
  ],
  ['listing key types', 404, (which) => ({ method: 'GET', url: `/v1/products/${which}/key-types` })],
  [
    'adding a key type that the owner has',
    404,
    (which) => ({ method: 'POST', url: `/v1/products/${which}/key-types`, body: { name: 'Owned type' } }),
  ],
  [
    'changing a key type of a foreign product',
    404,
    (which) => ({
      method: 'PATCH',
      url: `/v1/products/${which}/key-types/owned-type`,
      body: { deviceLimit: 9 },
    }),
  ],
  [
    'changing a foreign key type of a product that both have',
    404,
    (which) => ({
      method: 'PATCH',
      url: `/v1/products/shared-name/key-types/${which === 'owned' ? 'owned-type' : 'absent'}`,
      body: { deviceLimit: 9 },
    }),
  ],
  [
    'changing the id of a foreign key type',
    404,
    (which) => ({
      method: 'PATCH',
      url: `/v1/products/${which}/key-types/owned-type`,
      body: { keyTypeId: 'mine' },
    }),
  ],
  [
    'listing the licenses of a product',
    200,
    (which) => ({ method: 'GET', url: `/v1/licenses?product=${which}` }),
  ],
  [
    'minting for a product',
    404,
    (which) => ({ method: 'POST', url: '/v1/licenses', body: { productId: which } }),
  ],
  [
    'minting against a key type',
    404,
    (which) => ({
      method: 'POST',
      url: '/v1/licenses',
      body: { productId: 'shared-name', keyTypeId: which === 'owned' ? 'owned-type' : 'absent' },
    }),
  ],
  [
    'reading a license',
    404,
    (which, owned) => ({
      method: 'GET',
      url: `/v1/licenses/${licenseId(which, owned)}`,
    }),
  ],
  [
    'reading a license as it was',
    404,
    (which, owned) => ({ method: 'GET', url: `/v1/licenses/${licenseId(which, owned)}?asOf=0` }),
  ],
  [
    'reading the history of a license',
    404,
    (which, owned) => ({ method: 'GET', url: `/v1/licenses/${licenseId(which, owned)}/history` }),
  ],
  [
    'having a license explained',
    404,
    (which, owned) => ({ method: 'GET', url: `/v1/licenses/${licenseId(which, owned)}/explain?asOf=0` }),
  ],
  ['reading a product as it was', 404, (which) => ({ method: 'GET', url: `/v1/products/${which}?asOf=0` })],
  [
    'reading a customer as they were',
    404,
    (which, owned) => ({ method: 'GET', url: `/v1/customers/${customerId(which, owned)}?asOf=0` }),
  ],
  [
    'taking the evidence on a license',
    404,
    (which, owned) => ({ method: 'GET', url: `/v1/licenses/${licenseId(which, owned)}/evidence` }),
  ],
  [
    'minting for a customer',
    404,
    (which, owned) => ({
      method: 'POST',
      url: '/v1/licenses',
      body: { productId: 'shared-name', customerId: customerId(which, owned) },
    }),
  ],
  [
    'reading a customer',
    404,
    (which, owned) => ({ method: 'GET', url: `/v1/customers/${customerId(which, owned)}` }),
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
    'linking a license of a stranger to an own customer',
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
    'listing the refusals of a license',
    404,
    (which, owned) => ({ method: 'GET', url: `/v1/licenses/${licenseId(which, owned)}/refusals` }),
  ],
  [
    'listing the refusals of a product',
    404,
    (which) => ({ method: 'GET', url: `/v1/refusals?product=${which}` }),
  ],
  [
    'counting the refused calls of a product',
    404,
    (which) => ({ method: 'GET', url: `/v1/refusals/days?product=${which}` }),
  ],
  [
    'listing the unknown keys of a product',
    404,
    (which) => ({ method: 'GET', url: `/v1/refusals/unknown-keys?product=${which}` }),
  ],
  ['reading the usage of a product', 404, (which) => ({ method: 'GET', url: `/v1/usage?product=${which}` })],
  [
    'reminting a license',
    404,
    (which, owned) => ({ method: 'POST', url: `/v1/licenses/${licenseId(which, owned)}/remint`, body: {} }),
  ],
  [
    'changing a license',
    404,
    (which, owned) => ({
      method: 'PATCH',
      url: `/v1/licenses/${licenseId(which, owned)}`,
      body: { deviceLimit: 5 },
    }),
  ],
  [
    'suspending a license',
    404,
    (which, owned) => ({ method: 'POST', url: `/v1/licenses/${licenseId(which, owned)}/suspend`, body: {} }),
  ],
  [
    'resuming a license',
    404,
    (which, owned) => ({ method: 'POST', url: `/v1/licenses/${licenseId(which, owned)}/resume`, body: {} }),
  ],
  [
    'removing a device of a license',
    404,
    (which, owned) => ({
      method: 'POST',
      url: `/v1/licenses/${licenseId(which, owned)}/deactivate-device`,
      body: { deviceId: 'd' },
    }),
  ],
  [
    'exporting the licenses of a product',
    404,
    (which) => ({ method: 'GET', url: `/v1/licenses/export?product=${which}` }),
  ],
  [
    'importing into a product',
    404,
    (which) => ({ method: 'POST', url: '/v1/licenses/import', body: { productId: which, licenses: [] } }),
  ],
  [
    'revoking a license',
    404,
    (which, owned) => ({
      method: 'POST',
      url: `/v1/licenses/${which === 'owned' ? owned.license.id : 'lic_00000000000000000000000000'}/revoke`,
    }),
  ],
  [
    'reinstating a license',
    404,
    (which, owned) => ({ method: 'POST', url: `/v1/licenses/${licenseId(which, owned)}/reinstate` }),
  ],
  [
    'giving a device its seat back',
    404,
    (which, owned) => ({
      method: 'POST',
      url: `/v1/licenses/${licenseId(which, owned)}/reseat-device`,
      body: { deviceId: 'laptop' },
    }),
  ],
  [
    'taking back an import',
    404,
    (which, owned) => ({ method: 'POST', url: `/v1/licenses/${licenseId(which, owned)}/take-back-import` }),
  ],
  [
    'revoking a token',
    404,
    (which, { token }) => ({
      method: 'POST',
      url: `/v1/tokens/${which === 'owned' ? token : 'tok_00000000000000000000000000'}/revoke`,
    }),
  ],
  [
    'erasing a customer',
    404,
    (which, owned) => ({ method: 'DELETE', url: `/v1/customers/${customerId(which, owned)}` }),
  ],
  [
    "what was done with somebody else's license",
    200,
    (which, owned) => ({ method: 'GET', url: `/v1/audit?target=${licenseId(which, owned)}` }),
  ],
  [
    'deleting a key type of a foreign product',
    404,
    (which) => ({ method: 'DELETE', url: `/v1/products/${which}/key-types/owned-type` }),
  ],
  [
    'deleting a foreign key type of a product that both have',
    404,
    (which) => ({
      method: 'DELETE',
      url: `/v1/products/shared-name/key-types/${which === 'owned' ? 'owned-type' : 'absent'}`,
    }),
  ],
  [
    'polling a confirmation',
    404,
    (which, owned) => ({
      method: 'GET',
      url: `/v1/confirmations/${which === 'owned' ? owned.confirmation : 'cnf_00000000000000000000000000'}`,
    }),
  ],
  [
    'putting a product into test mode',
    404,
    (which) => ({
      method: 'POST',
      url: `/v1/products/${which}/test-mode`,
      body: { publishableKey: 'pk_test_1', secretKey: 'sk_test_1' },
    }),
  ],
  ['ending test mode', 404, (which) => ({ method: 'DELETE', url: `/v1/products/${which}/test-mode` })],
  [
    'setting the free tier',
    404,
    (which) => ({ method: 'POST', url: `/v1/products/${which}/free-tier`, body: { enabled: true } }),
  ],
  [
    'verifying prices',
    404,
    (which) => ({ method: 'POST', url: `/v1/products/${which}/key-types/verify-prices` }),
  ],
  [
    'mapping a product',
    404,
    (which) => ({
      method: 'POST',
      url: `/v1/products/${which}/integrations/gumroad`,
      body: { permalinks: ['owned'] },
    }),
  ],
  [
    'mapping to a key type',
    422,
    (which) => ({
      method: 'POST',
      url: '/v1/products/shared-name/integrations/paddle',
      body: { prices: { pri_1: which === 'owned' ? 'owned-type' : 'absent' } },
    }),
  ],
  [
    'playing a purchase of a product',
    404,
    (which) => ({ method: 'POST', url: '/v1/test-purchase', body: { productId: which } }),
  ],
  [
    'playing a purchase of a key type',
    404,
    (which) => ({
      method: 'POST',
      url: '/v1/test-purchase',
      body: { productId: 'shared-name', keyTypeId: which === 'owned' ? 'owned-type' : 'absent' },
    }),
  ],
  [
    'polling a test purchase',
    404,
    (which, owned) => ({
      method: 'GET',
      url: `/v1/test-purchase/${which === 'owned' ? owned.testPurchase : 'tp_00000000000000000000000000'}`,
    }),
  ],
  [
    'listing the deliveries to a webhook endpoint',
    200,
    (which, owned) => ({ method: 'GET', url: `/v1/webhook/deliveries?endpoint=${endpointId(which, owned)}` }),
  ],
  [
    'reading a webhook endpoint',
    404,
    (which, owned) => ({ method: 'GET', url: `/v1/webhook-endpoints/${endpointId(which, owned)}` }),
  ],
  [
    'pausing a webhook endpoint',
    404,
    (which, owned) => ({
      method: 'PATCH',
      url: `/v1/webhook-endpoints/${endpointId(which, owned)}`,
      body: { paused: true },
    }),
  ],
  [
    'deleting a webhook endpoint',
    404,
    (which, owned) => ({ method: 'DELETE', url: `/v1/webhook-endpoints/${endpointId(which, owned)}` }),
  ],
  [
    'rotating the secret of a webhook endpoint',
    404,
    (which, owned) => ({
      method: 'POST',
      url: `/v1/webhook-endpoints/${endpointId(which, owned)}/rotate-secret`,
    }),
  ],
  [
    'testing a webhook endpoint',
    404,
    (which, owned) => ({ method: 'POST', url: `/v1/webhook-endpoints/${endpointId(which, owned)}/test` }),
  ],
  [
    'replaying to a webhook endpoint',
    404,
    (which, owned) => ({
      method: 'POST',
      url: '/v1/webhook/replays',
      body: { from: '2026-11-01T00:00:00Z', endpoint: endpointId(which, owned) },
    }),
  ],
  [
    'reading a replay',
    404,
    (which, owned) => ({ method: 'GET', url: `/v1/webhook/replays/${replayId(which, owned)}` }),
  ],
  ...(['pause', 'resume', 'cancel'] as const).map((what): (typeof places)[number] => [
    `${what} on a replay`,
    404,
    (which, owned) => ({ method: 'POST', url: `/v1/webhook/replays/${replayId(which, owned)}/${what}` }),
  ]),
  [
    'listing the deliveries of a license',
    200,
    (which, owned) => ({ method: 'GET', url: `/v1/webhook/deliveries?license=${licenseId(which, owned)}` }),
  ],
  [
    'reading a delivery',
    404,
    (which, owned) => ({ method: 'GET', url: `/v1/webhook/deliveries/${deliveryId(which, owned)}` }),
  ],
  [
    'asking for a delivery again',
    404,
    (which, owned) => ({
      method: 'POST',
      url: `/v1/webhook/deliveries/${deliveryId(which, owned)}/redeliver`,
    }),
  ],
  ['listing the sales of a product', 200, (which) => ({ method: 'GET', url: `/v1/sales?product=${which}` })],
  ['reading a sale', 404, (which, owned) => ({ method: 'GET', url: `/v1/sales/${saleId(which, owned)}` })],
  [
    'replaying a sale',
    404,
    (which, owned) => ({ method: 'POST', url: `/v1/sales/${saleId(which, owned)}/replay` }),
  ],
  [
    'saying what a sale sold',
    404,
    (which, owned) => ({
      method: 'POST',
      url: `/v1/sales/${saleId(which, owned)}/map`,
      body: { productId: 'own', keyTypeId: 'default' },
    }),
  ],
  ...(['activate', 'validate', 'deactivate'] as const).flatMap((what): typeof places => [
    [
      `${what} on a foreign product with its own key`,
      404,
      (which, owned) => ({
        method: 'POST',
        url: `/v1/licenses/${what}`,
        body: { product_id: which, license_key: owned.license.licenseKey, device_id: 'd' },
      }),
    ],
    [
      `${what} on a product that both have with the owner's key`,
      200,
      (which, owned) => ({
        method: 'POST',
        url: `/v1/licenses/${what}`,
        body: {
          product_id: 'shared-name',
          license_key: which === 'owned' ? owned.sameName.licenseKey : owned.unknownKey,
          device_id: 'd',
        },
      }),
    ],
  ]),
]
