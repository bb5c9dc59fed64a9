import { argument, flag, list, moment, nullable, pairs, required, secret, text } from './field.ts'
import { type Operation, operation } from './operation.ts'

const providers = ['stripe', 'gumroad', 'lemonsqueezy', 'paddle', 'polar']
const events = list('comma-separated, such as license.created,license.revoked; all when absent')

const ordering = text('in order for each license, or as fast as possible', { choices: ['license', 'none'] })

const replayColumns = {
  REPLAY: 'id',
  STATUS: 'status',
  ENDPOINT: 'endpointId',
  FROM: 'from',
  TO: 'to',
  DELIVERED: 'progress.delivered',
  TOTAL: 'progress.total',
}

const endpoints: readonly Operation[] = [
  operation('listWebhookEndpoints', 'webhooks list', 'GET /v1/webhook-endpoints', 'List webhook endpoints', {
    columns: { ENDPOINT: 'id', URL: 'url', PAUSED: 'paused', EVENTS: 'events', DESCRIPTION: 'description' },
  }),
  operation(
    'getWebhookEndpoint',
    'webhooks show',
    'GET /v1/webhook-endpoints/{id}',
    'Show a webhook endpoint',
  ),
  operation('addWebhookEndpoint', 'webhooks add', 'POST /v1/webhook-endpoints', 'Add a webhook endpoint', {
    gated: true,
    body: { url: text('where to deliver', argument), events, description: text('what it is for'), ordering },
  }),
  operation(
    'changeWebhookEndpoint',
    'webhooks update',
    'PATCH /v1/webhook-endpoints/{id}',
    'Change, pause or resume a webhook endpoint; a changed URL needs an approval',
    {
      gated: true,
      body: {
        url: text('where to deliver'),
        events,
        description: text('what it is for'),
        ordering,
        paused: flag('whether its deliveries wait'),
      },
    },
  ),
  operation(
    'deleteWebhookEndpoint',
    'webhooks delete',
    'DELETE /v1/webhook-endpoints/{id}',
    'Delete an endpoint',
    {
      gated: true,
      question: 'Delete this endpoint? Its pending deliveries are abandoned.',
    },
  ),
  operation(
    'rotateWebhookSecret',
    'webhooks rotate-secret',
    'POST /v1/webhook-endpoints/{id}/rotate-secret',
    'Replace the signing secret, shown only once',
    { gated: true },
  ),
  operation(
    'testWebhookEndpoint',
    'webhooks test',
    'POST /v1/webhook-endpoints/{id}/test',
    'Send a test event to an endpoint, and show its response',
    { body: { event: text('such as license.revoked') }, notRepeatable: true },
  ),
  operation(
    'getWebhook',
    'webhooks first show',
    'GET /v1/webhook',
    'Show the first endpoint, as /v1/webhook has it',
  ),
  operation('setWebhook', 'webhooks first set', 'PUT /v1/webhook', 'Set or remove the first endpoint', {
    gated: true,
    body: {
      url: text('where to deliver; an empty value removes it', { ...nullable, ...argument }),
      events,
      rotateSecret: flag('whether to create a new signing secret'),
    },
  }),
]

const deliveries: readonly Operation[] = [
  operation(
    'listDeliveries',
    'webhooks deliveries list',
    'GET /v1/webhook/deliveries',
    'List deliveries with every attempt, newest first',
    {
      paged: true,
      columns: {
        DELIVERY: 'id',
        EVENT: 'event',
        STATUS: 'status',
        LICENSE: 'licenseId',
        ATTEMPTS: 'attempts',
        CREATED: 'createdAt',
      },
      query: {
        status: text('with this status', { choices: ['pending', 'delivered', 'abandoned'] }),
        event: text('of this event'),
        endpoint: text('to this endpoint'),
        license: text('of this license'),
      },
    },
  ),
  operation(
    'getDelivery',
    'webhooks deliveries show',
    'GET /v1/webhook/deliveries/{id}',
    'Show a delivery and its payload',
  ),
  operation(
    'redeliver',
    'webhooks deliveries redeliver',
    'POST /v1/webhook/deliveries/{id}/redeliver',
    'Deliver again now',
    { dryRun: true },
  ),
]

const replays: readonly Operation[] = [
  operation(
    'listWebhookReplays',
    'webhooks replays list',
    'GET /v1/webhook/replays',
    'List replays, newest first',
    {
      paged: true,
      columns: replayColumns,
    },
  ),
  operation(
    'createWebhookReplay',
    'webhooks replays create',
    'POST /v1/webhook/replays',
    'Deliver the events of a range again',
    {
      dryRun: true,
      body: {
        from: moment('the first event', required),
        to: moment('the last event; defaults to now'),
        events,
        endpoint: text('to this endpoint'),
        only: text('which deliveries', { choices: ['failed', 'all'] }),
      },
    },
  ),
  operation(
    'getWebhookReplay',
    'webhooks replays show',
    'GET /v1/webhook/replays/{id}',
    'Show a replay and its progress',
  ),
  ...(['pause', 'resume', 'cancel'] as const).map((verb) =>
    operation(
      `${verb}WebhookReplay`,
      `webhooks replays ${verb}`,
      `POST /v1/webhook/replays/{id}/${verb}`,
      `${verb[0]?.toUpperCase()}${verb.slice(1)} a replay`,
      { dryRun: true },
    ),
  ),
]

export const webhookOperations = [...endpoints, ...deliveries, ...replays]

export const eventOperations: readonly Operation[] = [
  operation('listEvents', 'events list', 'GET /v1/events', 'List every event of the licenses, oldest first', {
    columns: { TIME: 'created', EVENT: 'event', LICENSE: 'license_id', ID: 'id' },
    query: {
      cursor: text('the cursor of an earlier answer, or end'),
      after: text('another name for --cursor'),
      license: text('of this license'),
      limit: text('how many, 1 to 100'),
      proof: text('with the proof of each event in --json', { choices: ['true', 'false'] }),
    },
  }),
]

const webhookSecret = secret("the provider's own webhook secret, from its settings")

export const integrationOperations: readonly Operation[] = [
  operation('listIntegrations', 'integrations list', 'GET /v1/integrations', 'List the payment providers', {
    paged: true,
    columns: { PROVIDER: 'provider', CONNECTED: 'connected', SINCE: 'connectedAt', PRODUCTS: 'products' },
  }),
  operation(
    'connectIntegration',
    'integrations connect',
    'POST /v1/integrations/{provider}/connect',
    'Connect gumroad, lemonsqueezy, paddle or polar',
    { dryRun: true, body: { webhookSecret, apiKey: secret('the API key') } },
  ),
  operation(
    'createProviderEndpoint',
    'integrations create-endpoint',
    'POST /v1/integrations/{provider}/endpoint',
    'Create the webhook endpoint at a provider, and connect it',
    {
      body: {
        apiKey: secret('the API key', required),
        replace: flag('whether to replace existing endpoints'),
        store: text('the store, if the account has several'),
      },
    },
  ),
  operation(
    'disconnectIntegration',
    'integrations disconnect',
    'DELETE /v1/integrations/{provider}',
    'Disconnect a provider and destroy its secrets',
    { dryRun: true, question: 'Disconnect this provider and destroy its secrets?' },
  ),
  operation(
    'rotateIntegrationSecret',
    'integrations rotate-secret',
    'POST /v1/integrations/{provider}/rotate-secret',
    "Replace the secret that verifies a provider's notifications",
    { gated: true, body: { webhookSecret } },
  ),
  operation(
    'configureProductIntegration',
    'integrations map',
    'POST /v1/products/{productId}/integrations/{provider}',
    "Map a provider's products to a product's key types",
    {
      dryRun: true,
      body: {
        permalinks: list('Gumroad: comma-separated'),
        variants: pairs('Lemon Squeezy: id=key type; may be repeated'),
        prices: pairs('Paddle: id=key type; may be repeated'),
        products: pairs('Polar: id=key type; may be repeated'),
        paymentLinks: pairs('Stripe: id=key type; may be repeated'),
      },
    },
  ),
  operation(
    'connectStripe',
    'integrations stripe connect',
    'POST /v1/integrations/stripe/connect',
    'Start or continue to connect a Stripe account through the platform',
  ),
  operation(
    'connectOwnStripeAccount',
    'integrations stripe own-account',
    'POST /v1/integrations/stripe/own-account',
    'Connect your own Stripe account with a restricted key',
    { body: { apiKey: secret('the restricted key', required), webhookSecret: secret('whsec_…', required) } },
  ),
  operation(
    'getStripeStatus',
    'integrations stripe status',
    'GET /v1/integrations/stripe/status',
    'Show the state of the Stripe account',
  ),
]

const saleColumns = {
  SALE: 'id',
  PROVIDER: 'provider',
  STATUS: 'status',
  PRODUCT: 'productId',
  LICENSE: 'licenseId',
  RECEIVED: 'receivedAt',
}

export const saleOperations: readonly Operation[] = [
  operation('listSales', 'sales list', 'GET /v1/sales', 'List sales, newest first', {
    paged: true,
    columns: saleColumns,
    query: {
      status: text('with this status', { choices: ['received', 'parked', 'licensed'] }),
      provider: text('of this provider', { choices: providers }),
      product: text('of this product'),
      needs: text('those that need something', { choices: ['holder'] }),
    },
  }),
  operation('listParkedSales', 'sales parked', 'GET /v1/sales/parked', 'List sales without a license yet', {
    paged: true,
    columns: { SALE: 'id', PROVIDER: 'provider', REASON: 'parked.reason', DETAIL: 'parked.detail' },
  }),
  operation(
    'listIgnoredTests',
    'sales ignored',
    'GET /v1/sales/ignored',
    'List test notifications without effect',
    {
      paged: true,
      columns: { PROVIDER: 'provider', KIND: 'kind', MESSAGE: 'message', TIMES: 'times', LAST: 'lastAt' },
    },
  ),
  operation(
    'listUnmatchedPayments',
    'sales unmatched',
    'GET /v1/sales/unmatched',
    'List refunds and disputes that belong to no known sale',
    {
      paged: true,
      columns: {
        PROVIDER: 'provider',
        KIND: 'kind',
        NAMES: 'names',
        AMOUNT: 'amount',
        CURRENCY: 'currency',
        RECEIVED: 'receivedAt',
      },
    },
  ),
  operation('getSale', 'sales show', 'GET /v1/sales/{id}', 'Show a sale with its payments and history'),
  operation('replaySale', 'sales replay', 'POST /v1/sales/{id}/replay', 'Replay a parked sale', {
    dryRun: true,
  }),
  operation('mapSale', 'sales map', 'POST /v1/sales/{id}/map', 'Say what a parked sale sold', {
    dryRun: true,
    body: {
      productId: text('the product', { option: 'product', ...required }),
      keyTypeId: text('the key type', { option: 'key-type', ...required }),
    },
  }),
  operation('startTestPurchase', 'test-purchases start', 'POST /v1/test-purchase', 'Run a test purchase', {
    body: {
      productId: text('the product', argument),
      keyTypeId: text("defaults to the product's first", { option: 'key-type' }),
      provider: text('defaults to the first that sells it', { choices: providers }),
    },
  }),
  operation(
    'getTestPurchase',
    'test-purchases show',
    'GET /v1/test-purchase/{id}',
    'Show the progress of a test purchase',
  ),
]
