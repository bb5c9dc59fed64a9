import { anyText, argument } from './field.ts'
import type { Commands } from './operation.ts'

/** Webhooks and the feed of events. */
export const webhookCommands = {
  listWebhookEndpoints: {
    words: 'webhooks list',
    summary: 'List webhook endpoints',
    columns: { ENDPOINT: 'id', URL: 'url', PAUSED: 'paused', EVENTS: 'events', DESCRIPTION: 'description' },
  },
  getWebhookEndpoint: { words: 'webhooks show', summary: 'Show a webhook endpoint' },
  addWebhookEndpoint: { words: 'webhooks add', options: { url: argument('where to deliver') } },
  changeWebhookEndpoint: {
    words: 'webhooks update',
    summary: 'Change, pause or resume a webhook endpoint; a changed URL needs an approval',
    options: { url: 'where to deliver', paused: 'whether its deliveries wait' },
  },
  deleteWebhookEndpoint: {
    words: 'webhooks delete',
    summary: 'Delete an endpoint',
    question: 'Delete this endpoint? Its pending deliveries are abandoned.',
  },
  rotateWebhookSecret: {
    words: 'webhooks rotate-secret',
    summary: 'Replace the signing secret, shown only once',
  },
  testWebhookEndpoint: {
    words: 'webhooks test',
    summary: 'Send a test event to an endpoint, and show its response',
    options: { event: anyText('such as license.revoked') },
  },
  getWebhook: { words: 'webhooks first show', summary: 'Show the first endpoint, as /v1/webhook has it' },
  setWebhook: {
    words: 'webhooks first set',
    summary: 'Set or remove the first endpoint',
    options: {
      url: argument('where to deliver; an empty value removes it'),
      rotateSecret: 'whether to create a new signing secret',
    },
  },
  listDeliveries: {
    words: 'webhooks deliveries list',
    summary: 'List deliveries with every attempt, newest first',
    columns: {
      DELIVERY: 'id',
      EVENT: 'event',
      STATUS: 'status',
      LICENSE: 'licenseId',
      ATTEMPTS: 'attempts',
      CREATED: 'createdAt',
    },
    options: { event: anyText('of this event') },
  },
  getDelivery: { words: 'webhooks deliveries show', summary: 'Show a delivery and its payload' },
  redeliver: { words: 'webhooks deliveries redeliver', summary: 'Deliver again now' },
  listWebhookReplays: {
    words: 'webhooks replays list',
    summary: 'List replays, newest first',
    columns: {
      REPLAY: 'id',
      STATUS: 'status',
      ENDPOINT: 'endpointId',
      FROM: 'from',
      TO: 'to',
      DELIVERED: 'progress.delivered',
      TOTAL: 'progress.total',
    },
  },
  createWebhookReplay: {
    words: 'webhooks replays create',
    options: { from: 'the first event', to: 'the last event; defaults to now', only: 'which deliveries' },
  },
  getWebhookReplay: { words: 'webhooks replays show', summary: 'Show a replay and its progress' },
  pauseWebhookReplay: { words: 'webhooks replays pause', summary: 'Pause a replay' },
  resumeWebhookReplay: { words: 'webhooks replays resume', summary: 'Resume a replay' },
  cancelWebhookReplay: { words: 'webhooks replays cancel', summary: 'Cancel a replay' },
  listEvents: {
    words: 'events list',
    summary: 'List every event of the licenses, oldest first',
    columns: { TIME: 'created', EVENT: 'event', LICENSE: 'license_id', ID: 'id' },
    options: {
      cursor: 'the cursor of an earlier answer, or end',
      after: 'another name for --cursor',
      limit: anyText('how many, 1 to 100'),
      proof: 'with the proof of each event in --json',
    },
  },
} satisfies Partial<Commands>

/** Payment providers and what they sell. */
export const saleCommands = {
  listIntegrations: {
    words: 'integrations list',
    summary: 'List the payment providers',
    columns: { PROVIDER: 'provider', CONNECTED: 'connected', SINCE: 'connectedAt', PRODUCTS: 'products' },
  },
  connectIntegration: {
    words: 'integrations connect',
    summary: 'Connect a payment provider other than Stripe',
  },
  createProviderEndpoint: {
    words: 'integrations create-endpoint',
    summary: 'Create the webhook endpoint at a provider, and connect it',
    options: {
      replace: 'whether to replace existing endpoints',
      store: 'the store, if the account has several',
    },
  },
  disconnectIntegration: {
    words: 'integrations disconnect',
    summary: 'Disconnect a provider and destroy its secrets',
    question: 'Disconnect this provider and destroy its secrets?',
  },
  rotateIntegrationSecret: {
    words: 'integrations rotate-secret',
    summary: "Replace the secret that verifies a provider's notifications",
  },
  configureCreditPacks: {
    words: 'integrations map-credits',
    summary: 'Say what of a provider sells credits for a product',
    options: { packs: 'an array of {id, meter, amount, days?}; replaces all of them' },
  },
  configureProductIntegration: {
    words: 'integrations map',
    options: {
      permalinks: 'Gumroad: comma-separated',
      variants: 'Lemon Squeezy: id=key type; may be repeated',
      prices: 'Paddle: id=key type; may be repeated',
      products: 'Polar: id=key type; may be repeated',
      paymentLinks: 'Stripe: id=key type; may be repeated',
    },
  },
  connectStripe: {
    words: 'integrations stripe connect',
    summary: 'Start or continue to connect a Stripe account through the platform',
  },
  connectOwnStripeAccount: {
    words: 'integrations stripe own-account',
    summary: 'Connect your own Stripe account with a restricted key',
    options: { apiKey: 'the restricted key', webhookSecret: 'whsec_…' },
  },
  getUseReports: { words: 'integrations stripe use-reports', summary: 'Show what Stripe is told of uses' },
  setUseReports: {
    words: 'integrations stripe report-uses',
    summary: 'Report uses to the meters of Stripe, or stop that',
  },
  getStripeStatus: { words: 'integrations stripe status', summary: 'Show the state of the Stripe account' },
  listSales: {
    words: 'sales list',
    columns: {
      SALE: 'id',
      PROVIDER: 'provider',
      STATUS: 'status',
      PRODUCT: 'productId',
      LICENSE: 'licenseId',
      RECEIVED: 'receivedAt',
    },
    options: { provider: 'of this provider', needs: 'those that need something' },
  },
  listParkedSales: {
    words: 'sales parked',
    summary: 'List sales without a license yet',
    columns: { SALE: 'id', PROVIDER: 'provider', REASON: 'parked.reason', DETAIL: 'parked.detail' },
  },
  listIgnoredTests: {
    words: 'sales ignored',
    summary: 'List test notifications without effect',
    columns: { PROVIDER: 'provider', KIND: 'kind', MESSAGE: 'message', TIMES: 'times', LAST: 'lastAt' },
  },
  listUnmatchedPayments: {
    words: 'sales unmatched',
    summary: 'List refunds and disputes that belong to no known sale',
    columns: {
      PROVIDER: 'provider',
      KIND: 'kind',
      NAMES: 'names',
      AMOUNT: 'amount',
      CURRENCY: 'currency',
      RECEIVED: 'receivedAt',
    },
  },
  getSale: { words: 'sales show', summary: 'Show a sale with its payments and history' },
  replaySale: { words: 'sales replay', summary: 'Replay a parked sale' },
  mapSale: { words: 'sales map', summary: 'Say what a parked sale sold' },
  startTestPurchase: {
    words: 'test-purchases start',
    summary: 'Run a test purchase',
    options: {
      productId: argument('the product', 'product-id'),
      keyTypeId: "defaults to the product's first",
      provider: 'defaults to the first that sells it',
    },
  },
  getTestPurchase: { words: 'test-purchases show', summary: 'Show the progress of a test purchase' },
} satisfies Partial<Commands>
