import { customerId, licenseId, type Place } from './foreign-ids.ts'

/** Requests about licenses and devices. */
export const licensePlaces: readonly Place[] = [
  [
    'searching for a license',
    200,
    (which, things) => ({
      method: 'POST',
      url: '/v1/licenses/search',
      body: { text: licenseId(which, things) },
    }),
  ],
  [
    "changing a key type of another tenant's product",
    404,
    (which) => ({
      method: 'PATCH',
      url: `/v1/products/${which}/key-types/owned-type`,
      body: { deviceLimit: 9 },
    }),
  ],
  [
    "changing another tenant's key type of a product id that both tenants have",
    404,
    (which) => ({
      method: 'PATCH',
      url: `/v1/products/shared-name/key-types/${which === 'owned' ? 'owned-type' : 'absent'}`,
      body: { deviceLimit: 9 },
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
    'minting with a key type',
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
    'reading a license as of a time',
    404,
    (which, owned) => ({ method: 'GET', url: `/v1/licenses/${licenseId(which, owned)}?asOf=0` }),
  ],
  [
    'reading the history of a license',
    404,
    (which, owned) => ({ method: 'GET', url: `/v1/licenses/${licenseId(which, owned)}/history` }),
  ],
  [
    'explaining a license',
    404,
    (which, owned) => ({ method: 'GET', url: `/v1/licenses/${licenseId(which, owned)}/explain?asOf=0` }),
  ],
  [
    'comparing a license at two moments',
    404,
    (which, owned) => ({ method: 'GET', url: `/v1/licenses/${licenseId(which, owned)}/diff?from=0` }),
  ],
  [
    'reading a customer as of a time',
    404,
    (which, owned) => ({ method: 'GET', url: `/v1/customers/${customerId(which, owned)}?asOf=0` }),
  ],
  [
    'reading the receipt of a license',
    404,
    (which, owned) => ({ method: 'GET', url: `/v1/licenses/${licenseId(which, owned)}/receipt` }),
  ],
  [
    'downloading the evidence of a license',
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
    'reading the seats of a customer in use',
    404,
    (which, owned) => ({ method: 'GET', url: `/v1/customers/${customerId(which, owned)}/seats` }),
  ],
  [
    'reading the seats of a product in use',
    404,
    (which) => ({ method: 'GET', url: `/v1/products/${which}/seats` }),
  ],
  [
    'listing the refusals of a license',
    404,
    (which, owned) => ({ method: 'GET', url: `/v1/licenses/${licenseId(which, owned)}/refusals` }),
  ],
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
    'mailing the key of a license',
    404,
    (which, owned) => ({
      method: 'POST',
      url: `/v1/licenses/${licenseId(which, owned)}/send-key`,
      body: {},
    }),
  ],
  [
    'listing the files of a license',
    404,
    (which, owned) => ({ method: 'GET', url: `/v1/licenses/${licenseId(which, owned)}/files` }),
  ],
  [
    'making a license file',
    404,
    (which, owned) => ({
      method: 'POST',
      url: `/v1/licenses/${licenseId(which, owned)}/files`,
      body: { request: 'v4.public.x.y' },
    }),
  ],
  [
    'taking a license file back',
    404,
    (which, owned) => ({
      method: 'POST',
      url: `/v1/licenses/${licenseId(which, owned)}/files/release`,
      body: { release: 'v4.public.x.y' },
    }),
  ],
  [
    'listing the people who have seats of a license',
    404,
    (which, owned) => ({ method: 'GET', url: `/v1/licenses/${licenseId(which, owned)}/people` }),
  ],
  [
    'giving a person a seat',
    404,
    (which, owned) => ({
      method: 'POST',
      url: `/v1/licenses/${licenseId(which, owned)}/people`,
      body: { personId: 'per_00000000000000000000000000' },
    }),
  ],
  [
    'giving a person a new key',
    404,
    (which, owned) => ({
      method: 'POST',
      url: `/v1/licenses/${licenseId(which, owned)}/people/per_00000000000000000000000000/key`,
      body: {},
    }),
  ],
  [
    'taking the seat of a person',
    404,
    (which, owned) => ({
      method: 'DELETE',
      url: `/v1/licenses/${licenseId(which, owned)}/people/per_00000000000000000000000000`,
    }),
  ],
  [
    'listing the relays of a license',
    404,
    (which, owned) => ({ method: 'GET', url: `/v1/licenses/${licenseId(which, owned)}/relays` }),
  ],
  [
    'certifying a relay',
    404,
    (which, owned) => ({
      method: 'POST',
      url: `/v1/licenses/${licenseId(which, owned)}/relays`,
      body: { request: 'v4.public.x.y' },
    }),
  ],
  [
    'releasing a relay',
    404,
    (which, owned) => ({
      method: 'POST',
      url: `/v1/licenses/${licenseId(which, owned)}/relays/release`,
      body: { release: 'v4.public.x.y' },
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
    'allowing a license to be shared',
    404,
    (which, owned) => ({
      method: 'POST',
      url: `/v1/licenses/${licenseId(which, owned)}/allow-sharing`,
      body: { allowed: true },
    }),
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
    'listing the deliveries of a license',
    200,
    (which, owned) => ({ method: 'GET', url: `/v1/webhook/deliveries?license=${licenseId(which, owned)}` }),
  ],
  ...(['activate', 'validate', 'heartbeat', 'deactivate'] as const).flatMap((what): Place[] => [
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
