import { eventOperations, integrationOperations, saleOperations, webhookOperations } from './connections.ts'
import { customerOperations, licenseOperations } from './licenses.ts'
import type { Operation } from './operation.ts'
import { productOperations } from './products.ts'
import { administrationOperations, portalOperations, reportOperations } from './reports.ts'
import { transparencyOperations } from './transparency.ts'

/** Every command that calls one operation. The others are in src/cli/commands/remote. */
export const operations: readonly Operation[] = [
  ...productOperations,
  ...licenseOperations,
  ...customerOperations,
  ...webhookOperations,
  ...eventOperations,
  ...integrationOperations,
  ...saleOperations,
  ...reportOperations,
  ...portalOperations,
  ...administrationOperations,
  ...transparencyOperations,
]

/** What the words before the last one of a command are about. */
export const subjects: Readonly<Record<string, string>> = {
  products: 'Products and their settings',
  'products test-mode': 'Test mode of a product',
  'products mail': 'The mail with the key',
  'key-types': "A product's key types",
  licenses: 'Licenses',
  customers: 'Customers and their licenses',
  webhooks: 'Webhook endpoints, deliveries and replays, and tools for a receiver',
  'webhooks first': 'The first endpoint, as /v1/webhook has it',
  'webhooks deliveries': 'Deliveries and their attempts',
  'webhooks replays': 'Deliveries of past events',
  events: "A tenant's license events",
  integrations: 'Payment providers',
  'integrations stripe': 'The Stripe account',
  sales: 'Sales reported by payment providers',
  'test-purchases': 'Test purchases',
  refusals: 'Refused calls of validate and activate',
  tokens: 'API tokens',
  confirmations: 'Operations that wait for an approval',
  'sdk-key': "The key that identifies a tenant's apps",
  workspace: 'The workspace of the token',
  portal: 'The portal of your customers',
  'portal logo': 'The logo of the portal',
  transparency: 'Proof that the log was not rewritten',
  audit: 'Who viewed and changed what, and checks of the log',
}
