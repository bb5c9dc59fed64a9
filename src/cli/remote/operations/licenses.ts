import { argument, flag, json, moment, nullable, number, pairs, required, secret, text } from './field.ts'
import { type Operation, operation } from './operation.ts'

const statuses = ['active', 'fallback', 'expired', 'suspended', 'revoked']
const reason = { reason: text('the reason, shown in the history') }
const asOf = { asOf: text('a past time, or the sequence of an event') }

const licenseColumns = {
  LICENSE: 'id',
  STATUS: 'status',
  PRODUCT: 'productId',
  'KEY TYPE': 'keyTypeId',
  KEY: 'displayKey',
  SEATS: 'seatsUsed',
  HOLDER: 'email',
  EXPIRES: 'expiresAt',
}
export const refusalColumns = {
  LICENSE: 'licenseId',
  DEVICE: 'device',
  CALL: 'call',
  REASON: 'reason',
  TIMES: 'count',
  LAST: 'lastSeenAt',
}

const onLicense = (
  id: string,
  verb: string,
  path: string,
  summary: string,
  details: Partial<Operation> = {},
): Operation =>
  operation(id, `licenses ${verb}`, `POST /v1/licenses/{id}/${path}`, summary, { body: reason, ...details })

const reading: readonly Operation[] = [
  operation('listLicenses', 'licenses list', 'GET /v1/licenses', 'List licenses, newest first', {
    paged: true,
    columns: licenseColumns,
    query: {
      product: text('of this product'),
      status: text('with this status', { choices: statuses }),
      email: text('issued to this address'),
      customer: text('of this customer'),
      created_after: moment('created then or later'),
      created_before: moment('created earlier'),
      expires_before: moment('that expire earlier'),
      source: text('with this source', { choices: ['api', 'import', 'sale', 'test'] }),
      test: text('only test licenses, or none of them', { choices: ['true', 'false'] }),
      metadata: pairs('with this metadata, as name=value; may be repeated'),
    },
  }),
  operation(
    'searchLicenses',
    'licenses search',
    'POST /v1/licenses/search',
    'Find licenses by anything that a customer names: a key, a name, an address, an order',
    {
      body: { text: text('what the customer names', argument) },
      columns: {
        LICENSE: 'license.id',
        STATUS: 'license.status',
        PRODUCT: 'license.productId',
        KEY: 'license.displayKey',
        HOLDER: 'license.email',
        MATCHED: 'matched',
      },
    },
  ),
  operation('getLicense', 'licenses show', 'GET /v1/licenses/{id}', 'Show a license with its devices', {
    query: asOf,
  }),
  operation(
    'getReceipt',
    'licenses receipt',
    'GET /v1/licenses/{id}/receipt',
    'Prove that a license is in the signed log',
  ),
  operation(
    'getLicenseHistory',
    'licenses history',
    'GET /v1/licenses/{id}/history',
    'Show what happened to a license, when and by whom',
    { paged: true, columns: { '#': 'sequence', TIME: 'time', WHAT: 'summary' } },
  ),
  operation(
    'explainLicense',
    'licenses explain',
    'GET /v1/licenses/{id}/explain',
    'Explain what validate and activate would return',
    { query: { device_id: text('for this device', { option: 'device' }), ...asOf } },
  ),
  operation(
    'compareLicense',
    'licenses diff',
    'GET /v1/licenses/{id}/diff',
    'Compare a license at two moments',
    {
      query: {
        from: text('the earlier moment: a time, or the sequence of an event', required),
        to: text('the later moment; defaults to now'),
      },
    },
  ),
  operation(
    'listRefusalsOfLicense',
    'licenses refusals',
    'GET /v1/licenses/{id}/refusals',
    'List the refused calls of a license, newest first',
    { paged: true, columns: refusalColumns },
  ),
]

const changing: readonly Operation[] = [
  operation(
    'mintLicense',
    'licenses create',
    'POST /v1/licenses',
    'Mint a license; its key is shown only once',
    {
      dryRun: true,
      body: {
        productId: text('the product', { option: 'product', ...required }),
        keyTypeId: text("defaults to the product's first", { option: 'key-type' }),
        quantity: number('how many units'),
        email: text('the holder'),
        name: text('the name of the holder'),
        customerId: text('the customer to link it to', { option: 'customer' }),
        expiresAt: moment('its end: a time, a duration such as 30d, or none', nullable),
        deviceLimit: number('devices, or none for unlimited', nullable),
        metadata: pairs('name=value; may be repeated'),
        sendKey: flag('whether to mail the key to the holder'),
      },
    },
  ),
  operation('updateLicense', 'licenses update', 'PATCH /v1/licenses/{id}', 'Change a license', {
    dryRun: true,
    body: {
      keyTypeId: text('the new key type', { option: 'key-type' }),
      quantity: number('how many units'),
      deviceLimit: number('devices, or none for unlimited', nullable),
      expiresAt: moment('its end: a time, a duration such as 30d, or none', nullable),
      email: text('the holder; an empty value removes it', nullable),
      name: text('the name of the holder; an empty value removes it', nullable),
      metadata: pairs('name=value; may be repeated; replaces all of it'),
      ...reason,
    },
  }),
  onLicense('suspendLicense', 'suspend', 'suspend', 'Suspend a license until it is resumed', {
    dryRun: true,
  }),
  onLicense('resumeLicense', 'resume', 'resume', 'Resume a suspended license', { dryRun: true }),
  onLicense('revokeLicense', 'revoke', 'revoke', 'Revoke a license permanently', {
    gated: true,
    question: 'Revoke this license permanently?',
  }),
  onLicense('reinstateLicense', 'reinstate', 'reinstate', 'Reinstate a revoked license', { gated: true }),
  onLicense('remintLicense', 'remint', 'remint', 'Give a license a new key, shown only once', {
    dryRun: true,
    body: {
      keepDevices: flag('whether its devices keep their seats'),
      sendKey: flag('whether to mail the key to the holder'),
      ...reason,
    },
    question: 'Replace the key? The current one stops working.',
  }),
  onLicense('sendLicenseKey', 'send-key', 'send-key', 'Mail the kept key to the holder again', {
    dryRun: true,
  }),
  onLicense(
    'deactivateDeviceOfLicense',
    'deactivate-device',
    'deactivate-device',
    'Free the seat of a device',
    {
      dryRun: true,
      body: {
        deviceId: text('the device', { option: 'device' }),
        instanceId: text('the instance, instead of the device', { option: 'instance' }),
        ...reason,
      },
    },
  ),
  onLicense('reseatDevice', 'reseat-device', 'reseat-device', 'Give a deactivated device its seat back', {
    body: { deviceId: text('the device', { option: 'device', ...required }) },
    gated: true,
  }),
  onLicense(
    'takeBackImport',
    'take-back-import',
    'take-back-import',
    'Take back the import of an unused license',
    {
      gated: true,
      question: 'Take back the import of this license?',
    },
  ),
]

const key = {
  product_id: text('the product', { option: 'product', ...required }),
  license_key: secret('the license key', required),
}
const device = text('the device', { option: 'device', ...required })

/** As a vendor's server calls them; the token needs the scope `licenses:runtime`. */
const runtime: readonly Operation[] = [
  operation('validateLicense', 'licenses validate', 'POST /v1/licenses/validate', 'Validate a license key', {
    body: { ...key, device_id: text('on this device', { option: 'device' }) },
  }),
  operation(
    'activateDevice',
    'licenses activate',
    'POST /v1/licenses/activate',
    'Activate a device with a key',
    {
      body: { ...key, device_id: device, name: text('the name of the device') },
    },
  ),
  operation(
    'deactivateDevice',
    'licenses deactivate',
    'POST /v1/licenses/deactivate',
    'Deactivate a device with a key',
    { body: { ...key, device_id: device } },
  ),
]

export const licenseOperations = [...reading, ...changing, ...runtime]

const customerFields = {
  name: text('their name; an empty value removes it', nullable),
  metadata: pairs('name=value; may be repeated'),
}
const license = { licenseId: text('the license', argument) }

export const customerOperations: readonly Operation[] = [
  operation('listCustomers', 'customers list', 'GET /v1/customers', 'List customers, newest first', {
    paged: true,
    query: {
      email: text('with this address'),
      name: text('with three or more characters of their name'),
    },
    columns: { CUSTOMER: 'id', EMAIL: 'email', NAME: 'name', LICENSES: 'licenseIds', CREATED: 'createdAt' },
  }),
  operation('createCustomer', 'customers create', 'POST /v1/customers', 'Create a customer', {
    dryRun: true,
    body: {
      email: text('their address', required),
      name: text('their name'),
      metadata: pairs('name=value; may be repeated'),
    },
  }),
  operation('getCustomer', 'customers show', 'GET /v1/customers/{id}', 'Show a customer', { query: asOf }),
  operation('updateCustomer', 'customers update', 'PATCH /v1/customers/{id}', 'Change a customer', {
    dryRun: true,
    body: { email: text('their address'), ...customerFields },
  }),
  operation('eraseCustomer', 'customers erase', 'DELETE /v1/customers/{id}', 'Erase the person everywhere', {
    gated: true,
    question: 'Erase this person everywhere? It cannot be undone.',
  }),
  operation(
    'linkLicense',
    'customers link',
    'POST /v1/customers/{id}/link-license',
    'Link a license to a customer',
    { dryRun: true, body: { ...license, ...reason } },
  ),
  operation(
    'unlinkLicense',
    'customers unlink',
    'POST /v1/customers/{id}/unlink-license',
    'Unlink a license from a customer',
    { dryRun: true, body: license },
  ),
  operation(
    'listLicensesOfCustomer',
    'customers licenses',
    'GET /v1/customers/{id}/licenses',
    "List a customer's licenses, newest first",
    { paged: true, columns: licenseColumns },
  ),
  operation(
    'listSalesOfCustomer',
    'customers sales',
    'GET /v1/customers/{id}/sales',
    "List a customer's sales, newest first",
    { paged: true, columns: { SALE: 'id', PROVIDER: 'provider', STATUS: 'status', LICENSE: 'licenseId' } },
  ),
  operation(
    'replaceEntitlementOverrides',
    'customers entitlements',
    'PATCH /v1/customers/{id}/entitlements',
    "Replace a customer's entitlement overrides",
    {
      dryRun: true,
      body: {
        overrides: json('an array of {entitlement, effect, productId?, expiresAt?, reason?}', required),
      },
    },
  ),
]
