import {
  customerId,
  deliveryId,
  endpointId,
  type Place,
  providerId,
  replayId,
  roleId,
  saleId,
} from './foreign-ids.ts'

/** Requests about everything else. */
export const otherPlaces: readonly Place[] = [
  ['reading a product', 404, (which) => ({ method: 'GET', url: `/v1/products/${which}` })],
  [
    'changing a product',
    404,
    (which) => ({ method: 'PATCH', url: `/v1/products/${which}`, body: { name: 'Mine' } }),
  ],
  ['sending a test mail', 404, (which) => ({ method: 'POST', url: `/v1/products/${which}/mail/test` })],
  ['listing releases', 404, (which) => ({ method: 'GET', url: `/v1/products/${which}/releases` })],
  [
    'replacing the list of releases',
    404,
    (which) => ({ method: 'PUT', url: `/v1/products/${which}/releases`, body: { releases: [] } }),
  ],
  ['reading the mail settings', 404, (which) => ({ method: 'GET', url: `/v1/products/${which}/mail` })],
  [
    'setting the mail settings',
    404,
    (which) => ({ method: 'PUT', url: `/v1/products/${which}/mail`, body: { enabled: false } }),
  ],
  [
    'wording a mail of a product',
    404,
    (which) => ({
      method: 'PUT',
      url: '/v1/mail-templates',
      body: { kind: 'expired', productId: which, subject: 'Gone', text: 'Gone' },
    }),
  ],
  [
    'showing a mail of a product',
    404,
    (which) => ({
      method: 'POST',
      url: '/v1/mail-templates/preview',
      body: { kind: 'expired', productId: which },
    }),
  ],
  [
    'removing the wording of a mail',
    404,
    (which) => ({ method: 'DELETE', url: `/v1/mail-templates/expired.${which}.*` }),
  ],
  ['listing key types', 404, (which) => ({ method: 'GET', url: `/v1/products/${which}/key-types` })],
  [
    'adding a key type that the other tenant has',
    404,
    (which) => ({ method: 'POST', url: `/v1/products/${which}/key-types`, body: { name: 'Owned type' } }),
  ],
  [
    "changing the id of another tenant's key type",
    404,
    (which) => ({
      method: 'PATCH',
      url: `/v1/products/${which}/key-types/owned-type`,
      body: { keyTypeId: 'mine' },
    }),
  ],
  [
    'reading a product as of a time',
    404,
    (which) => ({ method: 'GET', url: `/v1/products/${which}?asOf=0` }),
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
    'revoking a token',
    404,
    (which, { token }) => ({
      method: 'POST',
      url: `/v1/tokens/${which === 'owned' ? token : 'tok_00000000000000000000000000'}/revoke`,
    }),
  ],
  [
    "deleting a key type of another tenant's product",
    404,
    (which) => ({ method: 'DELETE', url: `/v1/products/${which}/key-types/owned-type` }),
  ],
  [
    "deleting another tenant's key type of a product id that both tenants have",
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
    'previewing a confirmation',
    404,
    (which, owned) => ({
      method: 'GET',
      url: `/v1/confirmations/${which === 'owned' ? owned.confirmation : 'cnf_00000000000000000000000000'}/preview`,
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
    'selling credits for a product',
    404,
    (which) => ({
      method: 'POST',
      url: `/v1/products/${which}/integrations/gumroad/credit-packs`,
      body: { packs: [{ id: 'pack', meter: 'calls', amount: '1' }] },
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
    'starting a test purchase of a product',
    404,
    (which) => ({ method: 'POST', url: '/v1/test-purchase', body: { productId: which } }),
  ],
  [
    'starting a test purchase of a key type',
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
    'reading a sign-in provider',
    404,
    (which, owned) => ({ method: 'GET', url: `/v1/sign-in-providers/${providerId(which, owned)}` }),
  ],
  [
    'changing a sign-in provider',
    404,
    (which, owned) => ({
      method: 'PATCH',
      url: `/v1/sign-in-providers/${providerId(which, owned)}`,
      body: { name: 'Mine' },
    }),
  ],
  [
    'deleting a sign-in provider',
    404,
    (which, owned) => ({ method: 'DELETE', url: `/v1/sign-in-providers/${providerId(which, owned)}` }),
  ],
  [
    'adding a sign-in provider for an organization',
    404,
    (which, owned) => ({
      method: 'POST',
      url: '/v1/sign-in-providers',
      body: {
        id: 'mine',
        issuer: 'https://public.example.com',
        audience: 'customers',
        customerId: customerId(which, owned),
        clientId: 'keyledger',
        clientSecret: 'a secret',
        name: 'Mine',
        domains: ['acme.example'],
      },
    }),
  ],
  [
    'reading a custom role',
    404,
    (which, owned) => ({ method: 'GET', url: `/v1/roles/${roleId(which, owned)}` }),
  ],
  [
    'changing a custom role',
    404,
    (which, owned) => ({ method: 'PATCH', url: `/v1/roles/${roleId(which, owned)}`, body: { name: 'Mine' } }),
  ],
  [
    'deleting a custom role',
    404,
    (which, owned) => ({ method: 'DELETE', url: `/v1/roles/${roleId(which, owned)}` }),
  ],
  [
    'giving a custom role to a group of the directory',
    404,
    (which, owned) => ({
      method: 'PUT',
      url: '/v1/scim',
      body: { roles: [], defaultRole: roleId(which, owned) },
    }),
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
    'sending a test event to a webhook endpoint',
    404,
    (which, owned) => ({ method: 'POST', url: `/v1/webhook-endpoints/${endpointId(which, owned)}/test` }),
  ],
  [
    'replaying to a webhook endpoint',
    404,
    (which, owned) => ({
      method: 'POST',
      url: '/v1/webhook/replays',
      body: { from: '2026-01-01T00:00:00Z', endpoint: endpointId(which, owned) },
    }),
  ],
  [
    'reading a replay',
    404,
    (which, owned) => ({ method: 'GET', url: `/v1/webhook/replays/${replayId(which, owned)}` }),
  ],
  ...(['pause', 'resume', 'cancel'] as const).map((what): Place[][number] => [
    `${what} on a replay`,
    404,
    (which, owned) => ({ method: 'POST', url: `/v1/webhook/replays/${replayId(which, owned)}/${what}` }),
  ]),
  [
    'reading a delivery',
    404,
    (which, owned) => ({ method: 'GET', url: `/v1/webhook/deliveries/${deliveryId(which, owned)}` }),
  ],
  [
    'redelivering a delivery',
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
    'mapping a sale',
    404,
    (which, owned) => ({
      method: 'POST',
      url: `/v1/sales/${saleId(which, owned)}/map`,
      body: { productId: 'own', keyTypeId: 'default' },
    }),
  ],
]
