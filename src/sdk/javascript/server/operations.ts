/**
 * The operations that a token may call, from the OpenAPI document; `npx vitest run test/http/openapi.test.ts -u` writes it.
 * `gated` needs an approval, `idempotent` takes an Idempotency-Key, `paged` is a list, `safe` may be sent again.
 */
export const operations = {
  activateDevice: 'POST /v1/licenses/activate idempotent',
  addCredit: 'POST /v1/licenses/{id}/credits idempotent',
  addCustomerCredit: 'POST /v1/customers/{id}/credits idempotent',
  addCustomerNote: 'POST /v1/customers/{id}/notes idempotent',
  addPeople: 'POST /v1/customers/{id}/people idempotent',
  addRole: 'POST /v1/roles gated',
  addSignInProvider: 'POST /v1/sign-in-providers gated',
  addWebhookEndpoint: 'POST /v1/webhook-endpoints gated',
  allowSharing: 'POST /v1/licenses/{id}/allow-sharing idempotent',
  assignSeat: 'POST /v1/licenses/{id}/people idempotent',
  cancelWebhookReplay: 'POST /v1/webhook/replays/{id}/cancel idempotent',
  certifyRelay: 'POST /v1/licenses/{id}/relays idempotent',
  changePersonRole: 'PATCH /v1/customers/{id}/people/{personId}',
  changeRole: 'PATCH /v1/roles/{id} gated',
  changeSignInProvider: 'PATCH /v1/sign-in-providers/{id} gated',
  changeWebhookEndpoint: 'PATCH /v1/webhook-endpoints/{id} gated',
  closeReseller: 'POST /v1/resellers/{id}/close gated',
  commitHold: 'POST /v1/licenses/hold/commit safe',
  compareLicense: 'GET /v1/licenses/{id}/diff',
  configureCreditPacks: 'POST /v1/products/{productId}/integrations/{provider}/credit-packs idempotent',
  configureProductIntegration: 'POST /v1/products/{productId}/integrations/{provider} idempotent',
  connectIntegration: 'POST /v1/integrations/{provider}/connect idempotent',
  connectMailSender: 'PUT /v1/mail-sender',
  connectOwnStripeAccount: 'POST /v1/integrations/stripe/own-account idempotent',
  connectStripe: 'POST /v1/integrations/stripe/connect idempotent',
  consumeMeter: 'POST /v1/licenses/consume safe',
  correctCustomerUse: 'POST /v1/customers/{id}/meters/{meter}/corrections idempotent',
  correctUse: 'POST /v1/licenses/{id}/meters/{meter}/corrections idempotent',
  createCustomer: 'POST /v1/customers idempotent',
  createKeyType: 'POST /v1/products/{productId}/key-types idempotent',
  createLicenseFile: 'POST /v1/licenses/{id}/files idempotent',
  createProduct: 'POST /v1/products idempotent',
  createProviderEndpoint: 'POST /v1/integrations/{provider}/endpoint idempotent',
  createReseller: 'POST /v1/resellers idempotent',
  createWebhookReplay: 'POST /v1/webhook/replays idempotent',
  deactivateDevice: 'POST /v1/licenses/deactivate idempotent',
  deactivateDeviceOfLicense: 'POST /v1/licenses/{id}/deactivate-device idempotent',
  deleteKeyType: 'DELETE /v1/products/{productId}/key-types/{keyTypeId} gated',
  deleteRole: 'DELETE /v1/roles/{id} gated',
  deleteSignInProvider: 'DELETE /v1/sign-in-providers/{id} gated',
  deleteWebhookEndpoint: 'DELETE /v1/webhook-endpoints/{id} gated',
  disableTestMode: 'DELETE /v1/products/{productId}/test-mode',
  disconnectIntegration: 'DELETE /v1/integrations/{provider}',
  disconnectMailSender: 'DELETE /v1/mail-sender',
  dissolveOrganization: 'DELETE /v1/customers/{id}/organization',
  enableTestMode: 'POST /v1/products/{productId}/test-mode idempotent',
  eraseCustomer: 'DELETE /v1/customers/{id} gated',
  explainLicense: 'GET /v1/licenses/{id}/explain',
  exportLicenses: 'GET /v1/licenses/export gated',
  exportMeteredUse: 'GET /v1/usage/export',
  formOrganization: 'POST /v1/customers/{id}/organization idempotent',
  getConfirmation: 'GET /v1/confirmations/{id}',
  getCustomer: 'GET /v1/customers/{id}',
  getDelivery: 'GET /v1/webhook/deliveries/{id}',
  getEvidence: 'GET /v1/licenses/{id}/evidence',
  getLicense: 'GET /v1/licenses/{id}',
  getLicenseHistory: 'GET /v1/licenses/{id}/history paged',
  getMailSender: 'GET /v1/mail-sender',
  getMailStyle: 'GET /v1/mail-style',
  getPortal: 'GET /v1/portal',
  getPortalLanguage: 'GET /v1/portal/languages/{tag}',
  getProduct: 'GET /v1/products/{productId}',
  getProductMail: 'GET /v1/products/{productId}/mail',
  getReceipt: 'GET /v1/licenses/{id}/receipt',
  getReseller: 'GET /v1/resellers/{id}',
  getRole: 'GET /v1/roles/{id}',
  getSale: 'GET /v1/sales/{id}',
  getScim: 'GET /v1/scim',
  getSdkKey: 'GET /v1/sdk-key gated',
  getSignInProvider: 'GET /v1/sign-in-providers/{id}',
  getStripeStatus: 'GET /v1/integrations/stripe/status',
  getTestPurchase: 'GET /v1/test-purchase/{id}',
  getUseReports: 'GET /v1/integrations/stripe/use-reports',
  getWebhook: 'GET /v1/webhook',
  getWebhookEndpoint: 'GET /v1/webhook-endpoints/{id}',
  getWebhookReplay: 'GET /v1/webhook/replays/{id}',
  getWorkspace: 'GET /v1/workspace',
  holdMeter: 'POST /v1/licenses/hold safe',
  importLicenses: 'POST /v1/licenses/import idempotent',
  invitePerson: 'POST /v1/customers/{id}/people/{personId}/invite idempotent',
  keepSeat: 'POST /v1/licenses/heartbeat',
  linkLicense: 'POST /v1/customers/{id}/link-license idempotent',
  linkLicensesByAddress: 'POST /v1/customers/link-licenses idempotent',
  listAudit: 'GET /v1/audit paged',
  listCustomerMeterLines: 'GET /v1/customers/{id}/meters/{meter}/uses paged',
  listCustomerMeters: 'GET /v1/customers/{id}/meters',
  listCustomerNotes: 'GET /v1/customers/{id}/notes paged',
  listCustomers: 'GET /v1/customers paged',
  listDeliveries: 'GET /v1/webhook/deliveries paged',
  listEvents: 'GET /v1/events',
  listIgnoredTests: 'GET /v1/sales/ignored paged',
  listIntegrations: 'GET /v1/integrations paged',
  listKeyTypes: 'GET /v1/products/{productId}/key-types',
  listLicenseFiles: 'GET /v1/licenses/{id}/files',
  listLicenseMeters: 'GET /v1/licenses/{id}/meters',
  listLicenses: 'GET /v1/licenses paged',
  listLicensesOfCustomer: 'GET /v1/customers/{id}/licenses paged',
  listMailTemplates: 'GET /v1/mail-templates',
  listMails: 'GET /v1/mails paged',
  listMeterLines: 'GET /v1/licenses/{id}/meters/{meter}/uses paged',
  listParkedSales: 'GET /v1/sales/parked paged',
  listPeople: 'GET /v1/customers/{id}/people paged',
  listPortalLanguages: 'GET /v1/portal/languages',
  listProducts: 'GET /v1/products paged',
  listRefusals: 'GET /v1/refusals paged',
  listRefusalsOfLicense: 'GET /v1/licenses/{id}/refusals paged',
  listRefusedCallsByDay: 'GET /v1/refusals/days paged',
  listRelays: 'GET /v1/licenses/{id}/relays',
  listReleases: 'GET /v1/products/{productId}/releases',
  listResellers: 'GET /v1/resellers paged',
  listRoles: 'GET /v1/roles',
  listSales: 'GET /v1/sales paged',
  listSalesOfCustomer: 'GET /v1/customers/{id}/sales paged',
  listSeatedPeople: 'GET /v1/licenses/{id}/people paged',
  listSignInProviders: 'GET /v1/sign-in-providers',
  listTokens: 'GET /v1/tokens paged',
  listUnknownKeys: 'GET /v1/refusals/unknown-keys paged',
  listUnmatchedPayments: 'GET /v1/sales/unmatched paged',
  listWebhookEndpoints: 'GET /v1/webhook-endpoints',
  listWebhookReplays: 'GET /v1/webhook/replays paged',
  logout: 'POST /v1/logout',
  mapSale: 'POST /v1/sales/{id}/map idempotent',
  mergeCustomer: 'POST /v1/customers/{id}/merge idempotent',
  mintLicense: 'POST /v1/licenses idempotent',
  pauseWebhookReplay: 'POST /v1/webhook/replays/{id}/pause idempotent',
  previewConfirmation: 'GET /v1/confirmations/{id}/preview',
  previewMail: 'POST /v1/mail-templates/preview',
  readInsights: 'GET /v1/insights',
  readMeteredUseOfCustomer: 'GET /v1/customers/{id}/usage',
  readMeteredUseOfLicense: 'GET /v1/licenses/{id}/usage',
  readMeteredUseOfProduct: 'GET /v1/products/{productId}/usage',
  readSeatsOfCustomer: 'GET /v1/customers/{id}/seats',
  readSeatsOfLicense: 'GET /v1/licenses/{id}/seats',
  readSeatsOfProduct: 'GET /v1/products/{productId}/seats',
  readUsage: 'GET /v1/usage',
  redeliver: 'POST /v1/webhook/deliveries/{id}/redeliver idempotent',
  reinstateLicense: 'POST /v1/licenses/{id}/reinstate gated',
  releaseHold: 'POST /v1/licenses/hold/release safe',
  releaseLicenseFile: 'POST /v1/licenses/{id}/files/release idempotent',
  releaseRelay: 'POST /v1/licenses/{id}/relays/release idempotent',
  remintLicense: 'POST /v1/licenses/{id}/remint idempotent',
  removeCustomerNote: 'DELETE /v1/customers/{id}/notes/{noteId}',
  removeMailTemplate: 'DELETE /v1/mail-templates/{templateId}',
  removePerson: 'DELETE /v1/customers/{id}/people/{personId}',
  removePortalLanguage: 'DELETE /v1/portal/languages/{tag}',
  removePortalLogo: 'DELETE /v1/portal/logo',
  replaceEntitlementOverrides: 'PATCH /v1/customers/{id}/entitlements',
  replacePersonalKey: 'POST /v1/licenses/{id}/people/{personId}/key idempotent',
  replaySale: 'POST /v1/sales/{id}/replay idempotent',
  reportPublishedKeys: 'POST /v1/licenses/published-keys idempotent',
  reseatDevice: 'POST /v1/licenses/{id}/reseat-device gated',
  resumeLicense: 'POST /v1/licenses/{id}/resume idempotent',
  resumeWebhookReplay: 'POST /v1/webhook/replays/{id}/resume idempotent',
  revokeLicense: 'POST /v1/licenses/{id}/revoke gated',
  revokeToken: 'POST /v1/tokens/{id}/revoke gated',
  rotateIntegrationSecret: 'POST /v1/integrations/{provider}/rotate-secret gated',
  rotateSdkKey: 'POST /v1/sdk-key/rotate gated',
  rotateWebhookSecret: 'POST /v1/webhook-endpoints/{id}/rotate-secret gated',
  searchLicenses: 'POST /v1/licenses/search safe',
  sendLicenseKey: 'POST /v1/licenses/{id}/send-key idempotent',
  setFreeTier: 'POST /v1/products/{productId}/free-tier idempotent',
  setMailStyle: 'PUT /v1/mail-style',
  setMailTemplate: 'PUT /v1/mail-templates',
  setPortal: 'PUT /v1/portal',
  setPortalLanguage: 'PUT /v1/portal/languages/{tag}',
  setPortalLogo: 'PUT /v1/portal/logo',
  setProductMail: 'PUT /v1/products/{productId}/mail',
  setReleases: 'PUT /v1/products/{productId}/releases',
  setScim: 'PUT /v1/scim gated',
  setUseReports: 'PUT /v1/integrations/stripe/use-reports',
  setWebhook: 'PUT /v1/webhook gated',
  startTestPurchase: 'POST /v1/test-purchase idempotent',
  suspendLicense: 'POST /v1/licenses/{id}/suspend idempotent',
  takeBackImport: 'POST /v1/licenses/{id}/take-back-import gated',
  testProductMail: 'POST /v1/products/{productId}/mail/test',
  testWebhookEndpoint: 'POST /v1/webhook-endpoints/{id}/test',
  unassignSeat: 'DELETE /v1/licenses/{id}/people/{personId}',
  unlinkLicense: 'POST /v1/customers/{id}/unlink-license idempotent',
  unmergeCustomer: 'POST /v1/customers/{id}/unmerge idempotent',
  updateCustomer: 'PATCH /v1/customers/{id}',
  updateKeyType: 'PATCH /v1/products/{productId}/key-types/{keyTypeId}',
  updateLicense: 'PATCH /v1/licenses/{id}',
  updateProduct: 'PATCH /v1/products/{productId}',
  updateReseller: 'PATCH /v1/resellers/{id}',
  updateWorkspace: 'PATCH /v1/workspace',
  validateLicense: 'POST /v1/licenses/validate safe',
  verifyPrices: 'POST /v1/products/{productId}/key-types/verify-prices idempotent',
  verifyToken: 'GET /v1/tokens/verify',
  withdrawCredit: 'POST /v1/licenses/{id}/meters/{meter}/credits/{creditId}/withdraw idempotent',
  withdrawCustomerCredit: 'POST /v1/customers/{id}/meters/{meter}/credits/{creditId}/withdraw idempotent',
} as const

/** The operations that say what they would change. */
export type DryRunId =
  | 'addCredit'
  | 'addCustomerCredit'
  | 'addCustomerNote'
  | 'addPeople'
  | 'addRole'
  | 'addSignInProvider'
  | 'addWebhookEndpoint'
  | 'allowSharing'
  | 'cancelWebhookReplay'
  | 'changePersonRole'
  | 'changeRole'
  | 'changeSignInProvider'
  | 'changeWebhookEndpoint'
  | 'closeReseller'
  | 'configureCreditPacks'
  | 'configureProductIntegration'
  | 'connectIntegration'
  | 'connectMailSender'
  | 'correctCustomerUse'
  | 'correctUse'
  | 'createCustomer'
  | 'createKeyType'
  | 'createProduct'
  | 'createReseller'
  | 'createWebhookReplay'
  | 'deactivateDeviceOfLicense'
  | 'deleteKeyType'
  | 'deleteRole'
  | 'deleteSignInProvider'
  | 'deleteWebhookEndpoint'
  | 'disableTestMode'
  | 'disconnectIntegration'
  | 'disconnectMailSender'
  | 'dissolveOrganization'
  | 'enableTestMode'
  | 'eraseCustomer'
  | 'exportLicenses'
  | 'formOrganization'
  | 'getSdkKey'
  | 'importLicenses'
  | 'invitePerson'
  | 'linkLicense'
  | 'linkLicensesByAddress'
  | 'logout'
  | 'mapSale'
  | 'mergeCustomer'
  | 'mintLicense'
  | 'pauseWebhookReplay'
  | 'redeliver'
  | 'reinstateLicense'
  | 'remintLicense'
  | 'removeCustomerNote'
  | 'removeMailTemplate'
  | 'removePerson'
  | 'removePortalLanguage'
  | 'removePortalLogo'
  | 'replaceEntitlementOverrides'
  | 'replaySale'
  | 'reportPublishedKeys'
  | 'reseatDevice'
  | 'resumeLicense'
  | 'resumeWebhookReplay'
  | 'revokeLicense'
  | 'revokeToken'
  | 'rotateIntegrationSecret'
  | 'rotateSdkKey'
  | 'rotateWebhookSecret'
  | 'sendLicenseKey'
  | 'setFreeTier'
  | 'setMailStyle'
  | 'setMailTemplate'
  | 'setPortal'
  | 'setPortalLanguage'
  | 'setPortalLogo'
  | 'setProductMail'
  | 'setReleases'
  | 'setScim'
  | 'setUseReports'
  | 'setWebhook'
  | 'suspendLicense'
  | 'takeBackImport'
  | 'unassignSeat'
  | 'unlinkLicense'
  | 'unmergeCustomer'
  | 'updateCustomer'
  | 'updateKeyType'
  | 'updateLicense'
  | 'updateProduct'
  | 'updateReseller'
  | 'updateWorkspace'
  | 'withdrawCredit'
  | 'withdrawCustomerCredit'
