import { rehearsable } from '../gate/effects/rehearsable.ts'
import type { Cursors } from '../http/cursor.ts'
import type { ZodApp } from '../http/zod-app.ts'
import type { Limits } from '../limits/limits.ts'
import type { Ports } from '../ports.ts'
import type { RunTestPurchase } from '../processes/test-purchases.ts'
import { auditRoutes } from './management/audit.ts'
import { confirmationRoutes } from './management/confirmations.ts'
import { customerRoutes } from './management/customers/customers.ts'
import { eventRoutes } from './management/events.ts'
import { insightRoutes } from './management/insights.ts'
import { cardAccountRoutes } from './management/integrations/card-account.ts'
import { integrationRoutes } from './management/integrations/integrations.ts'
import { testPurchaseRoutes } from './management/integrations/test-purchases.ts'
import { licenseChangeRoutes } from './management/licenses/changes.ts'
import { licenseEditRoutes } from './management/licenses/edit.ts'
import { evidenceRoutes } from './management/licenses/evidence.ts'
import { licenseExportRoutes } from './management/licenses/export.ts'
import { licenseHistoryRoutes } from './management/licenses/history.ts'
import { licenseImportRoutes } from './management/licenses/import.ts'
import { licenseRoutes } from './management/licenses/licenses.ts'
import { receiptRoute } from './management/licenses/receipt.ts'
import { licenseSearchRoute } from './management/licenses/search.ts'
import { licenseUndoRoutes } from './management/licenses/undo.ts'
import { loginRoutes } from './management/logins/login.ts'
import { mailRoutes } from './management/mail.ts'
import { portalRoutes } from './management/portal.ts'
import { keyTypeRoutes } from './management/products/key-types.ts'
import { productRoutes } from './management/products/products.ts'
import { sellingRoutes } from './management/products/selling.ts'
import { refusalRoutes } from './management/refusals.ts'
import { saleRoutes } from './management/sales/sales.ts'
import { sdkKeyRoutes } from './management/sdk-key.ts'
import { tokenRoutes } from './management/tokens.ts'
import { usageRoutes } from './management/usage.ts'
import { deliveryRoutes } from './management/webhooks/deliveries.ts'
import { webhookEndpointRoutes } from './management/webhooks/endpoints.ts'
import { webhookReplayRoutes } from './management/webhooks/replays.ts'
import { webhookRoutes } from './management/webhooks/webhook.ts'
import { workspaceRoutes } from './management/workspace.ts'
import { paymentRoutes } from './payments/routes.ts'
import { transparencyRoutes } from './transparency.ts'

type Options = {
  services: Ports<
    | 'attempts'
    | 'checkTarget'
    | 'db'
    | 'deriveId'
    | 'execute'
    | 'findForRuntime'
    | 'findProduct'
    | 'fingerprint'
    | 'idempotency'
    | 'keptKeys'
    | 'keyHashing'
    | 'keyTypes'
    | 'ledger'
    | 'limitHits'
    | 'mailing'
    | 'newId'
    | 'now'
    | 'planCapacity'
    | 'providers'
    | 'receipts'
    | 'randomBytes'
    | 'refusals'
    | 'secrets'
    | 'sendTestEvent'
    | 'signer'
    | 'subjects'
    | 'untilVisible'
    | 'usage'
  >
  cursors: Cursors
  /** The base of all URLs that keyledger hands out. */
  baseUrl: string
  limits: Limits
  runTestPurchase: RunTestPurchase
}

/** The management interface, and the routes of providers and customers, in the order of the OpenAPI document. */
export function managementRoutes(
  routes: ZodApp,
  { services: given, cursors, baseUrl, limits, runTestPurchase }: Options,
): void {
  const services = rehearsable(given)
  tokenRoutes(routes, services, cursors)
  loginRoutes(routes, services, baseUrl)
  confirmationRoutes(routes, services)
  productRoutes(routes, services, cursors)
  keyTypeRoutes(routes, services)
  mailRoutes(routes, services, baseUrl)
  portalRoutes(routes, services, baseUrl)
  workspaceRoutes(routes, services)
  licenseRoutes(routes, services, cursors)
  licenseSearchRoute(routes, services)
  licenseChangeRoutes(routes, services)
  licenseEditRoutes(routes, services)
  licenseHistoryRoutes(routes, services, cursors)
  licenseImportRoutes(routes, services)
  licenseUndoRoutes(routes, services)
  licenseExportRoutes(routes, services)
  evidenceRoutes(routes, services, limits)
  receiptRoute(routes, services)
  customerRoutes(routes, services, cursors)
  usageRoutes(routes, services)
  insightRoutes(routes, services)
  refusalRoutes(routes, services, cursors)
  sdkKeyRoutes(routes, services)
  webhookRoutes(routes, services)
  webhookEndpointRoutes(routes, services)
  deliveryRoutes(routes, services, cursors)
  webhookReplayRoutes(routes, services, cursors)
  eventRoutes(routes, services, cursors)
  integrationRoutes(routes, services, cursors, baseUrl)
  cardAccountRoutes(routes, services, baseUrl)
  paymentRoutes(routes, services, limits, baseUrl)
  sellingRoutes(routes, services)
  saleRoutes(routes, services, cursors)
  auditRoutes(routes, services, cursors)
  testPurchaseRoutes(routes, services, runTestPurchase)
  transparencyRoutes(routes, services)
}
