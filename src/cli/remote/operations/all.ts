import type { OperationId } from '../../../description/path.ts'
import { saleCommands, webhookCommands } from './connections.ts'
import { customerCommands, licenseCommands } from './licenses.ts'
import { type Commands, type Operation, operationsOf } from './operation.ts'
import { productCommands } from './products.ts'
import { reportCommands, workspaceCommands } from './reports.ts'

/** Operations that other commands call, or none. */
type Elsewhere =
  /** It is for programs; `api GET /v1/openapi.json` prints it. */
  | 'getOpenApi'
  /** `whoami` */
  | 'verifyToken'
  | 'logout'
  /** `login` */
  | 'startDeviceLogin'
  | 'pollDeviceLogin'
  /** `licenses import` reads a file in batches, `export` and `evidence` write one. */
  | 'importLicenses'
  | 'exportLicenses'
  | 'getEvidence'
  /** A note that others keep as it is; `api GET /v1/transparency/checkpoint` prints it. */
  | 'getCheckpoint'

const commands = {
  ...productCommands,
  ...licenseCommands,
  ...customerCommands,
  ...webhookCommands,
  ...saleCommands,
  ...reportCommands,
  ...workspaceCommands,
} satisfies Pick<Commands, Exclude<OperationId, Elsewhere>>

/** Every command that calls one operation. The others are in src/cli/commands/remote. */
export const operations: readonly Operation[] = operationsOf(commands)

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
