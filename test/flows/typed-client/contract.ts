/**
 * The operations of the contract. Every other one of the description is an addition, which `additions/` calls. An
 * addition does not belong here.
 */
export const contract = new Set([
  'getOpenApi',
  'verifyToken',
  'getConfirmation',
  ...['listProducts', 'createProduct', 'getProduct', 'updateProduct'],
  ...['enableTestMode', 'disableTestMode', 'setFreeTier'],
  ...['listKeyTypes', 'createKeyType', 'verifyPrices', 'updateKeyType', 'deleteKeyType'],
  ...['listLicenses', 'mintLicense', 'getLicense', 'revokeLicense', 'remintLicense'],
  ...['deactivateDeviceOfLicense', 'importLicenses', 'exportLicenses'],
  ...['getSdkKey', 'rotateSdkKey'],
  ...['listIntegrations', 'connectIntegration', 'disconnectIntegration', 'rotateIntegrationSecret'],
  ...['connectStripe', 'getStripeStatus', 'configureProductIntegration'],
  ...['getWebhook', 'setWebhook'],
  ...['listCustomers', 'createCustomer', 'getCustomer', 'linkLicense', 'replaceEntitlementOverrides'],
  ...['readUsage', 'startTestPurchase', 'getTestPurchase'],
  ...['startDeviceLogin', 'pollDeviceLogin', 'logout'],
  ...['validateLicense', 'activateDevice', 'deactivateDevice'],
  ...['activateInstance', 'validateInstance', 'deactivateInstance'],
  ...['reportFreeTier', 'reportKeyless', 'getClientConfig', 'getKeyset'],
  ...['getPricing', 'createCheckout', 'receiveStripeEvent'],
  ...['receiveGumroadPing', 'receiveLemonSqueezyEvent', 'receivePaddleNotification', 'receivePolarEvent'],
])

/** Additions that payment providers and monitoring call, with bodies of their own. */
export const calledByOthers = new Set([
  'live',
  'ready',
  'metrics',
  'receiveGumroadResource',
  'receiveOwnStripeEvent',
  // They take what a device or a relay has signed.
  'createLicenseFile',
  'releaseLicenseFile',
  'certifyRelay',
  'releaseRelay',
  'certifyClientRelay',
  'releaseClientRelay',
  // Apps call it with the SDK key, as those of the contract.
  'keepInstance',
])
