import { argument, duration, flag, json, list, nullable, number, required, secret, text } from './field.ts'
import { type Operation, operation } from './operation.ts'

const product = {
  keyPrefix: text('what its license keys begin with'),
  freeTierEnabled: flag('whether apps may run without a key', { option: 'free-tier' }),
  trialDurationDays: number('days of the trial, or none', { option: 'trial-days', ...nullable }),
  leaseSeconds: number('how long apps may work offline'),
  revalidateAfterSeconds: number('how often apps validate'),
  onRefund: text('what a full refund does to a license', { choices: ['revoke', 'keep'] }),
  onPaidInFull: text('what becomes of a license once its last installment is paid', {
    choices: ['by_key_type', 'keep', 'expire'],
  }),
  keyRecovery: flag('whether keys are kept, to be mailed again'),
  customerSeatFrees: number('seats that a customer may free in the portal within 30 days'),
  customerKeyReplacement: flag('whether a customer may replace a key in the portal'),
}

const keyType = {
  deviceLimit: number('devices for one unit, or none for unlimited', nullable),
  duration: duration('how long a license runs: 30d, 12mo, 1y, or none for ever', nullable),
  onExpiry: text('what happens at its end', { choices: ['expire', 'fallback'] }),
  entitlements: list('comma-separated'),
  fallbackEntitlements: list('comma-separated; those that stay after the end'),
  price: json('{"priceId": "price_…"} of Stripe, or none', nullable),
  sellInMultiples: flag('whether a buyer may buy several at once'),
  maxQuantity: number('most in one sale, or none', nullable),
}

const productColumns = { PRODUCT: 'productId', NAME: 'name', PREFIX: 'keyPrefix', CREATED: 'createdAt' }
const keyTypeColumns = {
  'KEY TYPE': 'keyTypeId',
  NAME: 'name',
  DEVICES: 'deviceLimit',
  DURATION: 'duration',
  ENTITLEMENTS: 'entitlements',
}

export const productOperations: readonly Operation[] = [
  operation('listProducts', 'products list', 'GET /v1/products', 'List products, newest first', {
    paged: true,
    columns: productColumns,
  }),
  operation('createProduct', 'products create', 'POST /v1/products', 'Create a product', {
    dryRun: true,
    body: {
      name: text('shown to customers', required),
      productId: text('defaults to the name', { option: 'id' }),
      ...product,
      keyTypes: json('an array of key types; one named default when absent'),
    },
  }),
  operation('getProduct', 'products show', 'GET /v1/products/{productId}', 'Show a product', {
    query: { asOf: text('a past time, or the sequence of an event') },
  }),
  operation('updateProduct', 'products update', 'PATCH /v1/products/{productId}', 'Change a product', {
    dryRun: true,
    body: { name: text('shown to customers'), ...product },
  }),
  operation(
    'setFreeTier',
    'products free-tier',
    'POST /v1/products/{productId}/free-tier',
    'Turn the free tier on or off',
    { dryRun: true, body: { enabled: flag('true or false', argument) } },
  ),
  operation(
    'enableTestMode',
    'products test-mode on',
    'POST /v1/products/{productId}/test-mode',
    'Turn on test mode, with or without Stripe test keys',
    {
      dryRun: true,
      body: {
        publishableKey: text('the publishable test key, pk_test_…'),
        secretKey: secret('the secret test key, sk_test_…'),
      },
    },
  ),
  operation(
    'disableTestMode',
    'products test-mode off',
    'DELETE /v1/products/{productId}/test-mode',
    'Turn off test mode and destroy its secret key',
    { dryRun: true, question: 'Turn off test mode and destroy its secret key?' },
  ),
  operation(
    'getProductMail',
    'products mail show',
    'GET /v1/products/{productId}/mail',
    'Show how customers are sent their keys',
  ),
  operation(
    'setProductMail',
    'products mail set',
    'PUT /v1/products/{productId}/mail',
    'Say how customers are sent their keys',
    {
      dryRun: true,
      body: {
        enabled: flag('whether mails are sent'),
        from: json('{"name": …, "email": …}, or none', nullable),
        replyTo: text('an address', nullable),
        subject: text('the subject', nullable),
        text: text('the text', nullable),
        html: text('the same as HTML', nullable),
        language: text('en or de, of your own texts, and where that of a customer is not known'),
        receipt: flag('whether the receipt is attached'),
      },
    },
  ),
  operation(
    'testProductMail',
    'products mail test',
    'POST /v1/products/{productId}/mail/test',
    'Send yourself the mail of a product',
    { notRepeatable: true },
  ),
  operation(
    'listKeyTypes',
    'key-types list',
    'GET /v1/products/{productId}/key-types',
    "List a product's key types, oldest first",
    { items: 'keyTypes', columns: keyTypeColumns },
  ),
  operation(
    'createKeyType',
    'key-types create',
    'POST /v1/products/{productId}/key-types',
    'Add a key type to a product',
    {
      dryRun: true,
      body: {
        name: text('shown to customers', required),
        keyTypeId: text('defaults to the name', { option: 'id' }),
        ...keyType,
      },
    },
  ),
  operation(
    'updateKeyType',
    'key-types update',
    'PATCH /v1/products/{productId}/key-types/{keyTypeId}',
    'Change a key type',
    { body: { name: text('shown to customers'), ...keyType }, dryRun: true },
  ),
  operation(
    'deleteKeyType',
    'key-types delete',
    'DELETE /v1/products/{productId}/key-types/{keyTypeId}',
    'Delete a key type that no live license references',
    { gated: true, question: 'Delete this key type?' },
  ),
  operation(
    'verifyPrices',
    'key-types verify-prices',
    'POST /v1/products/{productId}/key-types/verify-prices',
    'Read the price of every key type from Stripe',
    { items: 'keyTypes', columns: { 'KEY TYPE': 'keyTypeId', PRICE: 'price' } },
  ),
]
