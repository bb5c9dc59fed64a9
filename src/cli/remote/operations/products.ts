import { argument, secret } from './field.ts'
import type { Commands } from './operation.ts'
import { meteredUse, seatUse } from './reports.ts'

/** Products and their key types. */
export const productCommands = {
  listProducts: {
    words: 'products list',
    columns: { PRODUCT: 'productId', NAME: 'name', PREFIX: 'keyPrefix', CREATED: 'createdAt' },
  },
  createProduct: {
    words: 'products create',
    summary: 'Create a product',
    options: {
      name: 'shown to customers',
      productId: { option: 'id', help: 'defaults to the name' },
      keyTypes: 'an array of key types; one named default when absent',
    },
  },
  getProduct: { words: 'products show', summary: 'Show a product' },
  readSeatsOfProduct: {
    words: 'products seats',
    summary: 'Show the floating seats of a product in use over time',
    ...seatUse,
  },
  readMeteredUseOfProduct: {
    words: 'products usage',
    summary: "Sum up what a product's licenses used under their meters; with --json by hour or day",
    ...meteredUse,
  },
  updateProduct: {
    words: 'products update',
    summary: 'Change a product',
    options: { name: 'shown to customers' },
  },
  setFreeTier: { words: 'products free-tier', options: { enabled: argument('true or false') } },
  enableTestMode: {
    words: 'products test-mode on',
    summary: 'Turn on test mode, with or without Stripe test keys',
    options: {
      publishableKey: 'the publishable test key, pk_test_…',
      secretKey: secret('the secret test key, sk_test_…'),
    },
  },
  disableTestMode: {
    words: 'products test-mode off',
    question: 'Turn off test mode and destroy its secret key?',
  },
  getProductMail: { words: 'products mail show', summary: 'Show how customers are sent their keys' },
  setProductMail: {
    words: 'products mail set',
    summary: 'Say how customers are sent their keys',
    options: {
      enabled: 'whether mails are sent',
      from: '{"name": …, "email": …}, or none',
      replyTo: 'an address',
      subject: 'the subject',
      text: 'the text',
      html: 'the same as HTML',
      language:
        'of your own texts, and where that of a customer is not known: en, or another of languages list',
      receipt: 'whether the receipt is attached',
    },
  },
  listReleases: {
    words: 'products releases list',
    items: 'releases',
    columns: { VERSION: 'version', BUILT: 'builtAt', CHANNEL: 'channel', URL: 'url' },
  },
  setReleases: {
    words: 'products releases set',
    summary: 'Replace the list of releases',
    options: { releases: '[{"version": …, "builtAt": …, "channel": …, "url": …}, …]' },
  },
  testProductMail: { words: 'products mail test', summary: 'Send yourself the mail of a product' },
  listKeyTypes: {
    words: 'key-types list',
    items: 'keyTypes',
    columns: {
      'KEY TYPE': 'keyTypeId',
      NAME: 'name',
      DEVICES: 'deviceLimit',
      DURATION: 'duration',
      ENTITLEMENTS: 'entitlements',
    },
  },
  createKeyType: {
    words: 'key-types create',
    options: {
      name: 'shown to customers',
      keyTypeId: { option: 'id', help: 'defaults to the name' },
      deviceLimit: 'devices for one unit, or none for unlimited',
    },
  },
  updateKeyType: {
    words: 'key-types update',
    summary: 'Change a key type',
    options: { name: 'shown to customers', deviceLimit: 'devices for one unit, or none for unlimited' },
  },
  deleteKeyType: { words: 'key-types delete', question: 'Delete this key type?' },
  verifyPrices: {
    words: 'key-types verify-prices',
    summary: 'Read the price of every key type from Stripe',
    items: 'keyTypes',
    columns: { 'KEY TYPE': 'keyTypeId', PRICE: 'price' },
  },
} satisfies Partial<Commands>
