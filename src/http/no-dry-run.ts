const outside =
  'it reaches a payment provider, a mail server or a receiver of webhooks, which takes part only in the call itself'
const creates = 'it creates something, whose id or key exists only once it is created'

/** Why an operation offers no dry run, by its id. */
const reasons: Readonly<Record<string, string>> = {
  testProductMail: outside,
  sendLicenseKey: outside,
  testWebhookEndpoint: outside,
  redeliver: outside,
  createWebhookReplay: outside,
  connectIntegration: outside,
  createProviderEndpoint: outside,
  configureProductIntegration: outside,
  connectStripe: outside,
  connectOwnStripeAccount: outside,
  enableTestMode: outside,
  verifyPrices: outside,
  startTestPurchase: outside,
  createProduct: creates,
  createKeyType: creates,
  createCustomer: creates,
  mintLicense: creates,
  remintLicense: creates,
  importLicenses: creates,
  logout: 'it only ends the token that sends it',
}

/** @returns the reason, as the rest of a sentence after "because" */
export const whyNoDryRun = (operationId: string | undefined): string =>
  reasons[operationId ?? ''] ?? 'it does more than one decision on the present state can show'
