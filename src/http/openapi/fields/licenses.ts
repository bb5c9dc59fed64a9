import type { Fields } from './descriptions.ts'

/** Licenses, their devices, and what they are sold as. */
export const licenseFields: Fields = {
  licenseId: { description: 'The id of the license', example: 'lic_06f5w3k8hx7vq2m4n9t1r0s5zc' },
  licenseKey: {
    description: 'The license key. Case, hyphens and white space do not matter',
    example: 'ACME-7KQ2M-9XW4D-R1T8V-0ZB5N-3HJ6C-7',
  },
  displayKey: {
    description:
      'The license key, masked: its prefix and its last four characters before the check character',
    example: 'ACME…HJ6C',
  },
  productId: {
    description: 'The id of the product, unique within the tenant',
    orNull: 'while it is not known',
    example: 'editor',
  },
  keyTypeId: {
    description: 'The id of the key type, unique within its product',
    orNull: 'while it is not known',
    example: 'pro',
  },
  quantity: {
    description: 'The number of units. The device limit of the key type counts for each of them',
    example: 1,
  },
  deviceLimit: {
    description: 'How many devices may have a seat at the same time',
    orNull: 'is unlimited',
    example: 3,
  },
  seatsUsed: {
    description: 'How many devices have a seat; how many people, where the seats are of people',
    example: 1,
  },
  entitlements: {
    description:
      'What the license unlocks in the app: the entitlements of its key type, or the fallback ones after a fallback, as the ' +
      'overrides of its customer change them. Sorted; empty when it unlocks nothing',
    example: ['export', 'sync'],
  },
  entitlement: { description: 'The name of the entitlement', example: 'export' },
  expiresAt: {
    description: 'From when on it is no longer valid',
    orNull: 'if it never expires',
    example: '2027-11-21T09:30:00.000Z',
  },
  suspendedAt: { description: 'When it was suspended; absent while it is not', example: null },
  email: {
    description: 'The email address of the person who holds the license',
    orNull: 'if none is known, or once the person is erased',
    example: 'grace@example.com',
  },
  customerId: {
    description: 'The customer that the license belongs to',
    orNull: 'if it belongs to none',
    example: 'cus_06f5w3k8hx7vq2m4n9t1r0s5zc',
  },
  saleId: {
    description: "The payment provider's id of the sale",
    orNull: 'if the license was not sold',
    example: 'cs_live_a1b2c3',
  },
  test: {
    description: 'Whether it comes from a test purchase or from test mode, and so was not paid for',
    example: false,
  },
  metadata: {
    description: 'Your own pairs of text, at most 50. keyledger stores them and does not read them',
    example: { order: '1017' },
  },
  deviceId: {
    description: 'The id of the device: the one that the caller of activate chose, or else its instance id',
    orNull: 'if the call names no device',
    example: 'machine-7f3a',
  },
  instanceId: {
    description: 'The id that activate gave this device on this license',
    example: 'ins_06f5w3k8hx7vq2m4n9t1r0s5zc',
  },
  deviceName: { description: 'The label of the device', example: 'MacBook' },
  platform: {
    description: 'The operating system, as the app reported it',
    orNull: 'if it reported none',
    example: 'macos',
  },
  appVersion: {
    description: 'The version of the app, as it reported it',
    orNull: 'if it reported none',
    example: '3.2.0',
  },
  sdkVersion: {
    description: 'The version of the SDK in the app, as it reported it',
    orNull: 'if it reported none',
    example: '1.4.0',
  },
  sdk: {
    description: 'The language of the SDK in the app',
    orNull: 'if it reported none',
    example: 'swift',
  },
  activatedAt: { description: 'When the device got its seat', example: '2026-11-21T09:42:10.000Z' },
  deactivatedAt: { description: 'When the device lost its seat', orNull: 'while it has one', example: null },
  seenAt: { description: 'When the app reported this', example: '2026-11-24T08:15:00.000Z' },
}
