import { rehearsable } from '../gate/effects/rehearsable.ts'
import type { Cursors } from '../http/cursor.ts'
import type { VendorPorts } from '../http/ports.ts'
import type { ZodApp } from '../http/validation.ts'
import type { Limits } from '../limits/limits.ts'
import type { RunTestPurchase } from '../reactions/test-purchases.ts'
import { mailBounceRoute } from './mail-bounces.ts'
import { auditRoutes } from './management/audit.ts'
import { billRoutes } from './management/bill.ts'
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
import { licenseFileRoutes } from './management/licenses/files.ts'
import { licenseHistoryRoutes } from './management/licenses/history.ts'
import { licenseImportRoutes } from './management/licenses/import.ts'
import { licenseRoutes } from './management/licenses/licenses.ts'
import { personSeatRoutes } from './management/licenses/people.ts'
import { receiptRoute } from './management/licenses/receipt.ts'
import { relayRoutes } from './management/licenses/relays.ts'
import { licenseSearchRoute } from './management/licenses/search.ts'
import { licenseSharingRoutes } from './management/licenses/sharing.ts'
import { licenseUndoRoutes } from './management/licenses/undo.ts'
import { loginRoutes } from './management/logins/login.ts'
import { mailRoutes } from './management/mail.ts'
import { mailSenderRoutes } from './management/mail-senders.ts'
import { mailTemplateRoutes } from './management/mail-templates.ts'
import { mailListRoute } from './management/mails.ts'
import { meteredUseRoutes } from './management/metered-use.ts'
import { meterManagementRoutes } from './management/meters/routes.ts'
import { portalRoutes } from './management/portal.ts'
import { portalLanguageRoutes } from './management/portal-languages.ts'
import { keyTypeRoutes } from './management/products/key-types.ts'
import { productRoutes } from './management/products/products.ts'
import { releaseRoutes } from './management/products/releases.ts'
import { sellingRoutes } from './management/products/selling.ts'
import { refusalRoutes } from './management/refusals.ts'
import { resellerRoutes } from './management/resellers.ts'
import { roleRoutes } from './management/roles.ts'
import { saleRoutes } from './management/sales/sales.ts'
import { scimSettingRoutes } from './management/scim.ts'
import { sdkKeyRoutes } from './management/sdk-key.ts'
import { seatRoutes } from './management/seats.ts'
import { signInProviderRoutes } from './management/sign-in-providers.ts'
import { tokenRoutes } from './management/tokens.ts'
import { usageRoutes } from './management/usage.ts'
import { deliveryRoutes } from './management/webhooks/deliveries.ts'
import { webhookEndpointRoutes } from './management/webhooks/endpoints.ts'
import { webhookReplayRoutes } from './management/webhooks/replays.ts'
import { webhookRoutes } from './management/webhooks/webhook.ts'
import { workspaceRoutes } from './management/workspace.ts'
import { paymentRoutes } from './payments/routes.ts'
import { scimRoutes } from './scim/routes.ts'
import { transparencyRoutes } from './transparency.ts'

type Options = {
  ports: VendorPorts
  cursors: Cursors
  /** The base of all URLs that keyledger hands out. */
  baseUrl: string
  limits: Limits
  runTestPurchase: RunTestPurchase
}

/** The management interface, and the routes of providers and customers, in the order of the OpenAPI document. */
export function managementRoutes(
  routes: ZodApp,
  { ports: given, cursors, baseUrl, limits, runTestPurchase }: Options,
): void {
  const ports = rehearsable(given)
  tokenRoutes(routes, ports, cursors)
  loginRoutes(routes, ports, baseUrl)
  confirmationRoutes(routes, ports)
  productRoutes(routes, ports, cursors)
  keyTypeRoutes(routes, ports)
  releaseRoutes(routes, ports)
  mailRoutes(routes, ports, baseUrl)
  mailTemplateRoutes(routes, ports, baseUrl)
  mailSenderRoutes(routes, ports, baseUrl)
  mailListRoute(routes, ports, cursors)
  portalRoutes(routes, ports, baseUrl)
  portalLanguageRoutes(routes, ports)
  workspaceRoutes(routes, ports)
  signInProviderRoutes(routes, ports, baseUrl)
  scimSettingRoutes(routes, ports, baseUrl)
  roleRoutes(routes, ports)
  licenseRoutes(routes, ports, cursors)
  licenseSearchRoute(routes, ports)
  licenseChangeRoutes(routes, ports)
  licenseFileRoutes(routes, ports)
  meterManagementRoutes(routes, ports, cursors)
  relayRoutes(routes, ports)
  personSeatRoutes(routes, ports, cursors)
  licenseEditRoutes(routes, ports)
  licenseSharingRoutes(routes, ports)
  licenseHistoryRoutes(routes, ports, cursors)
  licenseImportRoutes(routes, ports)
  licenseUndoRoutes(routes, ports)
  licenseExportRoutes(routes, ports)
  evidenceRoutes(routes, ports, limits)
  receiptRoute(routes, ports)
  customerRoutes(routes, ports, cursors)
  resellerRoutes(routes, ports, cursors)
  usageRoutes(routes, ports)
  seatRoutes(routes, ports)
  meteredUseRoutes(routes, ports)
  billRoutes(routes, ports)
  insightRoutes(routes, ports)
  refusalRoutes(routes, ports, cursors)
  sdkKeyRoutes(routes, ports)
  webhookRoutes(routes, ports)
  webhookEndpointRoutes(routes, ports)
  deliveryRoutes(routes, ports, cursors)
  webhookReplayRoutes(routes, ports, cursors)
  eventRoutes(routes, ports, cursors)
  integrationRoutes(routes, ports, cursors, baseUrl)
  cardAccountRoutes(routes, ports, baseUrl)
  paymentRoutes(routes, ports, limits, baseUrl)
  mailBounceRoute(routes, ports)
  sellingRoutes(routes, ports)
  saleRoutes(routes, ports, cursors)
  auditRoutes(routes, ports, cursors)
  testPurchaseRoutes(routes, ports, runTestPurchase)
  transparencyRoutes(routes, ports)
  scimRoutes(routes, given, baseUrl)
}
