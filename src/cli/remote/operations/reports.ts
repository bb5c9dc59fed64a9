import { argument, file, flag, json, moment, nullable, required, text } from './field.ts'
import { refusalColumns } from './licenses.ts'
import { type Operation, operation } from './operation.ts'

const product = { product: text('of this product') }

export const reportOperations: readonly Operation[] = [
  operation(
    'readUsage',
    'usage',
    'GET /v1/usage',
    'Count activations and validations by hour or day, in UTC',
    {
      items: 'series',
      columns: {
        TIME: 'at',
        ACTIVATIONS: 'activations',
        DEACTIVATIONS: 'deactivations',
        VALIDATIONS: 'validations',
        REJECTED: 'rejected',
      },
      query: {
        ...product,
        from: moment('the first hour or day'),
        to: moment('the end'),
        granularity: text('the length of a row', { choices: ['hour', 'day'] }),
      },
    },
  ),
  operation(
    'readInsights',
    'insights',
    'GET /v1/insights',
    'Show sales, licenses, app versions and trials by day, in UTC',
    { query: { from: text('the first day'), to: text('the last day') } },
  ),
  operation('listRefusals', 'refusals list', 'GET /v1/refusals', 'List the refused calls of all licenses', {
    paged: true,
    columns: refusalColumns,
    query: {
      ...product,
      call: text('of this call', { choices: ['activate', 'validate'] }),
      reason: text('with this reason'),
    },
  }),
  operation('listRefusedCallsByDay', 'refusals days', 'GET /v1/refusals/days', 'Count refused calls by day', {
    paged: true,
    columns: { DAY: 'day', PRODUCT: 'productId', CALL: 'call', REASON: 'reason', TIMES: 'count' },
    query: product,
  }),
  operation(
    'listUnknownKeys',
    'refusals unknown-keys',
    'GET /v1/refusals/unknown-keys',
    'List keys of refused calls that no license has',
    {
      paged: true,
      columns: { KEY: 'displayKey', PRODUCT: 'productId', TIMES: 'count', LAST: 'lastSeenAt' },
      query: product,
    },
  ),
]

export const administrationOperations: readonly Operation[] = [
  operation('listTokens', 'tokens list', 'GET /v1/tokens', 'List API tokens with their last use', {
    paged: true,
    columns: {
      TOKEN: 'id',
      NAME: 'name',
      STATUS: 'status',
      'LAST USED': 'lastUsedAt',
      EXPIRES: 'expiresAt',
      SCOPES: 'scopes',
    },
  }),
  operation(
    'revokeToken',
    'tokens revoke',
    'POST /v1/tokens/{id}/revoke',
    'Revoke an API token permanently',
    {
      gated: true,
      question: 'Revoke this token permanently?',
    },
  ),
  operation(
    'getConfirmation',
    'confirmations status',
    'GET /v1/confirmations/{id}',
    'Show whether a confirmation of this token has been decided',
  ),
  operation(
    'previewConfirmation',
    'confirmations preview',
    'GET /v1/confirmations/{id}/preview',
    'Show what a request of this token that waits for an approval would change now',
  ),
  operation('getSdkKey', 'sdk-key show', 'GET /v1/sdk-key', 'Show the SDK key; creates the first one', {
    gated: true,
  }),
  operation('rotateSdkKey', 'sdk-key rotate', 'POST /v1/sdk-key/rotate', 'Replace the SDK key', {
    gated: true,
    question: 'Replace the SDK key? Apps with the current one are refused immediately.',
  }),
  operation(
    'getWorkspace',
    'workspace show',
    'GET /v1/workspace',
    'Show the name and the plan of the workspace',
  ),
  operation(
    'renameWorkspace',
    'workspace rename',
    'PATCH /v1/workspace',
    'Rename the workspace; its ID stays the same',
    { dryRun: true, body: { name: text('shown on pages, in mails and in the portal', argument) } },
  ),
  operation(
    'listAudit',
    'audit list',
    'GET /v1/audit',
    'List who viewed, exported, decided and changed what',
    {
      paged: true,
      columns: { TIME: 'at', ACTOR: 'actor', ACTION: 'action', TARGET: 'target.id', TIMES: 'times' },
      query: {
        actor: text('by this actor'),
        action: text('this action'),
        kind: text('of this kind of thing'),
        from: moment('then or later'),
        to: moment('earlier'),
        via: text('how', { choices: ['dashboard', 'api', 'command_line', 'provider', 'app', 'service'] }),
        target: text('of this thing'),
      },
    },
  ),
]

export const portalOperations: readonly Operation[] = [
  operation('getPortal', 'portal show', 'GET /v1/portal', 'Show the settings of the customer portal'),
  operation(
    'setPortal',
    'portal set',
    'PUT /v1/portal',
    'Configure the customer portal; settings that are left out return to their defaults',
    {
      dryRun: true,
      body: {
        enabled: flag('whether customers can sign in', required),
        name: text('shown instead of the name of the workspace', nullable),
        supportEmail: text('where customers ask for help', nullable),
        accentColor: text('of links and buttons, such as #0d5c4f', nullable),
        texts: json('own texts by language: {"en": {…}, "de": {…}}'),
      },
    },
  ),
  operation(
    'setPortalLogo',
    'portal logo set',
    'PUT /v1/portal/logo',
    'Replace the logo of the customer portal',
    {
      dryRun: true,
      body: { data: file('a PNG, JPEG or WebP of up to 100 kB', { option: 'picture', ...argument }) },
    },
  ),
  operation(
    'removePortalLogo',
    'portal logo remove',
    'DELETE /v1/portal/logo',
    'Remove the logo of the portal',
    { dryRun: true },
  ),
]
