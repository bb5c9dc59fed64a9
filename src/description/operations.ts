/* oxlint-disable max-lines */
import type { DescribedOperation } from './operation.ts'

/**
 * The operations of the management interface, from the OpenAPI document;
 * `npx vitest run test/http/openapi.test.ts -u` writes it.
 */
export const operations = {
  getOpenApi: { method: 'GET', path: '/v1/openapi.json', summary: 'This OpenAPI document' },
  verifyToken: {
    method: 'GET',
    path: '/v1/tokens/verify',
    summary: 'Read the tenant and the scopes of this token',
  },
  listTokens: { method: 'GET', path: '/v1/tokens', summary: 'List API tokens, newest first', paged: true },
  revokeToken: {
    method: 'POST',
    path: '/v1/tokens/{id}/revoke',
    summary: 'Revoke an API token permanently',
    gated: true,
    dryRun: true,
  },
  logout: {
    method: 'POST',
    path: '/v1/logout',
    summary: 'Revoke the token of this request',
    dryRun: true,
    notRepeatable: true,
  },
  getConfirmation: {
    method: 'GET',
    path: '/v1/confirmations/{id}',
    summary: 'Poll a confirmation of this token',
  },
  previewConfirmation: {
    method: 'GET',
    path: '/v1/confirmations/{id}/preview',
    summary: 'What a request of this token that waits for an approval would change now',
  },
  listProducts: { method: 'GET', path: '/v1/products', summary: 'List products, newest first', paged: true },
  createProduct: {
    method: 'POST',
    path: '/v1/products',
    summary: 'Create a product; without key types it gets one named default',
    body: {
      name: { kind: 'text', help: 'The name that people read, also customers', required: true },
      productId: { kind: 'text', help: 'Derived from the name when absent' },
      keyPrefix: { kind: 'text', help: 'Derived from the name when absent' },
      freeTierEnabled: {
        kind: 'flag',
        help: 'Whether the app may be used without a license, in its free tier',
      },
      trialDurationDays: {
        kind: 'number',
        help: '0 turns trials off, null returns to not configured',
        nullable: true,
      },
      leaseSeconds: {
        kind: 'number',
        help: 'How long an app may rely on an answer while it is offline, in seconds',
      },
      revalidateAfterSeconds: {
        kind: 'number',
        help: 'How long a server may rely on an answer of validate, in seconds; it is in `revalidate_after`',
      },
      onRefund: {
        kind: 'text',
        help: 'What the refund of a whole sale does to its license',
        choices: ['revoke', 'keep'],
      },
      onPaidInFull: {
        kind: 'text',
        help: 'What the end of a subscription does to its license once all of a fixed number of payments were made: by its key type, a perpetual license stays and another one expires with the last period. Absent means by its key type',
        choices: ['by_key_type', 'keep', 'expire'],
      },
      keyRecovery: {
        kind: 'flag',
        help: 'Whether the key of a license with an email address is kept sealed from now on, so that it can be mailed there again. false destroys the kept keys',
      },
      deviceMatch: {
        kind: 'json',
        help: 'When a device without a known machine hash is the same by its components; null returns to more than half',
        nullable: true,
      },
      expiringNotice: {
        kind: 'json',
        help: 'When the holder of a license is told by mail that it expires; null turns these mails off',
        nullable: true,
      },
      usageNotice: {
        kind: 'flag',
        help: 'Whether the holder of a license gets an email at the thresholds of its meters. Absent means not',
      },
      deviceMails: {
        kind: 'list',
        help: 'What the holder of a license is told by mail about its devices; null turns these mails off',
        nullable: true,
      },
      keySharing: {
        kind: 'json',
        help: 'When a license looks shared, in place of what was set; null counts nothing',
        nullable: true,
      },
      customerSeatFrees: {
        kind: 'number',
        help: 'How many seats a customer may free in the portal within 30 days; absent means 3',
      },
      customerKeyReplacement: {
        kind: 'flag',
        help: 'Whether a customer may replace the key of a license in the portal; absent means no',
      },
      customerFiles: {
        kind: 'flag',
        help: 'Whether a customer may get license files for machines without a network in the portal, where the key type allows them; absent means no',
      },
      showSeatHolders: {
        kind: 'flag',
        help: 'Whether a device that finds all floating seats taken is told the names of the devices that have them; absent means no',
      },
      leaseHolder: {
        kind: 'flag',
        help: 'Whether `lease2` and license files name the holder of the license, so that an app can show whom it is licensed to; absent means no',
      },
      keyTypes: { kind: 'json', help: 'Its key types; one named `default` when absent' },
    },
    dryRun: true,
  },
  getProduct: {
    method: 'GET',
    path: '/v1/products/{productId}',
    summary: 'Read a product, now or at a past moment',
    query: {
      asOf: {
        kind: 'text',
        help: 'Return the state at this moment: an ISO 8601 time, or the sequence of an event in its history. Events recorded exactly at that time are included',
      },
    },
  },
  updateProduct: {
    method: 'PATCH',
    path: '/v1/products/{productId}',
    summary: 'Change a product; omitted fields keep their value',
    body: {
      name: { kind: 'text', help: 'The name that people read, also customers' },
      keyPrefix: { kind: 'text', help: 'Of keys issued from now on; existing keys keep theirs' },
      freeTierEnabled: {
        kind: 'flag',
        help: 'Whether the app may be used without a license, in its free tier',
      },
      trialDurationDays: {
        kind: 'number',
        help: '0 turns trials off, null returns to not configured',
        nullable: true,
      },
      leaseSeconds: {
        kind: 'number',
        help: 'How long an app may rely on an answer while it is offline, in seconds',
      },
      revalidateAfterSeconds: {
        kind: 'number',
        help: 'How long a server may rely on an answer of validate, in seconds; it is in `revalidate_after`',
      },
      onRefund: {
        kind: 'text',
        help: 'What the refund of a whole sale does to its license',
        choices: ['revoke', 'keep'],
      },
      onPaidInFull: {
        kind: 'text',
        help: 'What the end of a subscription does to its license once all of a fixed number of payments were made: by its key type, a perpetual license stays and another one expires with the last period. Absent means by its key type',
        choices: ['by_key_type', 'keep', 'expire'],
      },
      keyRecovery: {
        kind: 'flag',
        help: 'Whether the key of a license with an email address is kept sealed from now on, so that it can be mailed there again. false destroys the kept keys',
      },
      deviceMatch: {
        kind: 'json',
        help: 'When a device without a known machine hash is the same by its components; null returns to more than half',
        nullable: true,
      },
      expiringNotice: {
        kind: 'json',
        help: 'When the holder of a license is told by mail that it expires; null turns these mails off',
        nullable: true,
      },
      usageNotice: {
        kind: 'flag',
        help: 'Whether the holder of a license gets an email at the thresholds of its meters. Absent means not',
      },
      deviceMails: {
        kind: 'list',
        help: 'What the holder of a license is told by mail about its devices; null turns these mails off',
        nullable: true,
      },
      keySharing: {
        kind: 'json',
        help: 'When a license looks shared, in place of what was set; null counts nothing',
        nullable: true,
      },
      customerSeatFrees: {
        kind: 'number',
        help: 'How many seats a customer may free in the portal within 30 days; absent means 3',
      },
      customerKeyReplacement: {
        kind: 'flag',
        help: 'Whether a customer may replace the key of a license in the portal; absent means no',
      },
      customerFiles: {
        kind: 'flag',
        help: 'Whether a customer may get license files for machines without a network in the portal, where the key type allows them; absent means no',
      },
      showSeatHolders: {
        kind: 'flag',
        help: 'Whether a device that finds all floating seats taken is told the names of the devices that have them; absent means no',
      },
      leaseHolder: {
        kind: 'flag',
        help: 'Whether `lease2` and license files name the holder of the license, so that an app can show whom it is licensed to; absent means no',
      },
    },
    dryRun: true,
  },
  listKeyTypes: {
    method: 'GET',
    path: '/v1/products/{productId}/key-types',
    summary: "List a product's key types, oldest first",
  },
  createKeyType: {
    method: 'POST',
    path: '/v1/products/{productId}/key-types',
    summary: 'Add a key type to a product',
    body: {
      name: { kind: 'text', help: 'The name that people read, also customers', required: true },
      keyTypeId: { kind: 'text', help: 'Derived from the name when absent' },
      deviceLimit: {
        kind: 'number',
        help: 'How many devices may have a seat at the same time, for each unit; null is unlimited',
        nullable: true,
      },
      duration: {
        kind: 'duration',
        help: 'How long a license lasts, from its issue or from what `startsAt` says; null is perpetual',
        nullable: true,
      },
      onExpiry: {
        kind: 'text',
        help: 'What the end of a license does: `expire` ends it, `fallback` leaves it with the `fallbackEntitlements`',
        choices: ['expire', 'fallback'],
      },
      entitlements: {
        kind: 'list',
        help: 'What its licenses unlock in the app. A set: order and duplicates do not matter',
      },
      fallbackEntitlements: { kind: 'list', help: 'What a license still unlocks after a fallback. A set' },
      entitlementValues: {
        kind: 'values',
        help: 'How much of an entitlement a license grants, by its name: true, a number, or text of up to 200 characters, such as a date. Each name is in `entitlements` or `fallbackEntitlements` too; replaces all values',
      },
      price: {
        kind: 'json',
        help: 'The price at Stripe, which is verified later; null removes it',
        nullable: true,
      },
      sellInMultiples: { kind: 'flag', help: 'Whether one purchase may have several units' },
      maxQuantity: {
        kind: 'number',
        help: 'The most units of one purchase; null is unlimited',
        nullable: true,
      },
      startsAt: {
        kind: 'text',
        help: 'From when on the duration counts: `issue`, or `first_activation`, which sets the expiry of a license when its first device is activated. Paid periods of a subscription count from their payment. Absent means `issue`',
        choices: ['issue', 'first_activation'],
      },
      graceSeconds: {
        kind: 'number',
        help: 'How long a license stays active after its expiry, in seconds, at most 366 days. 0, or absent, means not at all',
      },
      updates: {
        kind: 'duration',
        help: 'For how long after its issue, and after each later payment of its subscription, a license covers new builds of the app; null for every build',
        nullable: true,
      },
      offlineFiles: {
        kind: 'json',
        help: 'License files, with which a device may go on without a network; null, or absent, where there are none',
        nullable: true,
      },
      seatPolicy: {
        kind: 'text',
        help: '`device`: a device keeps its seat until it gives it back; the default. `floating`: it has its seat only as long as it calls; send `floatingSeats` with it. `named`: people have the seats; send `namedSeats` with it. Licenses keep the policy that they were issued with',
        choices: ['device', 'floating', 'named'],
      },
      floatingSeats: {
        kind: 'json',
        help: 'How seats float: makes the policy `floating`; null makes it `device`',
        nullable: true,
      },
      namedSeats: {
        kind: 'json',
        help: 'What people may do with their seats: makes the policy `named`; null makes it `device`',
        nullable: true,
      },
      meters: {
        kind: 'json',
        help: 'What is metered for its licenses, each meter by its id. Licenses have the meters of their key type as they are now; what was used stays counted. Replaces all meters',
      },
    },
    dryRun: true,
  },
  updateKeyType: {
    method: 'PATCH',
    path: '/v1/products/{productId}/key-types/{keyTypeId}',
    summary: 'Change a key type; omitted fields keep their value',
    body: {
      name: { kind: 'text', help: 'The name that people read, also customers' },
      deviceLimit: {
        kind: 'number',
        help: 'How many devices may have a seat at the same time, for each unit; null is unlimited',
        nullable: true,
      },
      duration: {
        kind: 'duration',
        help: 'How long a license lasts, from its issue or from what `startsAt` says; null is perpetual',
        nullable: true,
      },
      onExpiry: {
        kind: 'text',
        help: 'What the end of a license does: `expire` ends it, `fallback` leaves it with the `fallbackEntitlements`',
        choices: ['expire', 'fallback'],
      },
      entitlements: {
        kind: 'list',
        help: 'What its licenses unlock in the app. A set: order and duplicates do not matter',
      },
      fallbackEntitlements: { kind: 'list', help: 'What a license still unlocks after a fallback. A set' },
      entitlementValues: {
        kind: 'values',
        help: 'How much of an entitlement a license grants, by its name: true, a number, or text of up to 200 characters, such as a date. Each name is in `entitlements` or `fallbackEntitlements` too; replaces all values',
      },
      price: {
        kind: 'json',
        help: 'The price at Stripe, which is verified later; null removes it',
        nullable: true,
      },
      sellInMultiples: { kind: 'flag', help: 'Whether one purchase may have several units' },
      maxQuantity: {
        kind: 'number',
        help: 'The most units of one purchase; null is unlimited',
        nullable: true,
      },
      startsAt: {
        kind: 'text',
        help: 'From when on the duration counts: `issue`, or `first_activation`, which sets the expiry of a license when its first device is activated. Paid periods of a subscription count from their payment. Absent means `issue`',
        choices: ['issue', 'first_activation'],
      },
      graceSeconds: {
        kind: 'number',
        help: 'How long a license stays active after its expiry, in seconds, at most 366 days. 0, or absent, means not at all',
      },
      updates: {
        kind: 'duration',
        help: 'For how long after its issue, and after each later payment of its subscription, a license covers new builds of the app; null for every build',
        nullable: true,
      },
      offlineFiles: {
        kind: 'json',
        help: 'License files, with which a device may go on without a network; null, or absent, where there are none',
        nullable: true,
      },
      seatPolicy: {
        kind: 'text',
        help: '`device`: a device keeps its seat until it gives it back; the default. `floating`: it has its seat only as long as it calls; send `floatingSeats` with it. `named`: people have the seats; send `namedSeats` with it. Licenses keep the policy that they were issued with',
        choices: ['device', 'floating', 'named'],
      },
      floatingSeats: {
        kind: 'json',
        help: 'How seats float: makes the policy `floating`; null makes it `device`',
        nullable: true,
      },
      namedSeats: {
        kind: 'json',
        help: 'What people may do with their seats: makes the policy `named`; null makes it `device`',
        nullable: true,
      },
      meters: {
        kind: 'json',
        help: 'What is metered for its licenses, each meter by its id. Licenses have the meters of their key type as they are now; what was used stays counted. Replaces all meters',
      },
    },
    dryRun: true,
  },
  deleteKeyType: {
    method: 'DELETE',
    path: '/v1/products/{productId}/key-types/{keyTypeId}',
    summary: 'Delete a key type that no live license references',
    gated: true,
    dryRun: true,
  },
  listReleases: {
    method: 'GET',
    path: '/v1/products/{productId}/releases',
    summary: "List a product's releases, newest first",
  },
  setReleases: {
    method: 'PUT',
    path: '/v1/products/{productId}/releases',
    summary: "Replace the list of a product's releases",
    body: {
      releases: { kind: 'json', help: 'All releases, in any order; they replace the list', required: true },
    },
    dryRun: true,
  },
  getProductMail: {
    method: 'GET',
    path: '/v1/products/{productId}/mail',
    summary: 'Read the mail settings of a product',
  },
  setProductMail: {
    method: 'PUT',
    path: '/v1/products/{productId}/mail',
    summary: 'Set the mail settings of a product; an omitted field returns to its default',
    body: {
      enabled: {
        kind: 'flag',
        help: 'Whether keyledger mails keys to customers. Off where you send them in another way',
      },
      from: {
        kind: 'json',
        help: 'Who the mail is from; null for the name of the workspace alone',
        nullable: true,
      },
      replyTo: { kind: 'text', help: 'Where replies go; null for the address of `from`', nullable: true },
      subject: {
        kind: 'text',
        help: 'One line, with placeholders; null for the default subject',
        nullable: true,
      },
      text: {
        kind: 'text',
        help: 'The plain text, with placeholders; it contains `{{license_key}}`. null uses the default template',
        nullable: true,
      },
      html: {
        kind: 'text',
        help: 'The same in HTML; null with a text sends plain text only',
        nullable: true,
      },
      language: {
        kind: 'text',
        help: 'Of your own subject and text, and of the default template for customers whose language is not known',
      },
      receipt: {
        kind: 'flag',
        help: 'Whether to attach the receipt, a JSON file that proves that the license is in the signed log',
      },
    },
    dryRun: true,
  },
  testProductMail: {
    method: 'POST',
    path: '/v1/products/{productId}/mail/test',
    summary: 'Send yourself the mail of a product, and return what the mail server answers',
    body: {
      kind: {
        kind: 'text',
        help: 'The mail',
        choices: [
          'key',
          'key_on_request',
          'expiring',
          'expired',
          'fell_back',
          'renewal_failed',
          'usage',
          'new_device',
          'seats_full',
          'seat_given',
        ],
      },
      language: {
        kind: 'text',
        help: 'The language of the customer; null where it is not known',
        nullable: true,
      },
    },
    notRepeatable: true,
  },
  listMailTemplates: { method: 'GET', path: '/v1/mail-templates', summary: 'List your templates of mails' },
  setMailTemplate: {
    method: 'PUT',
    path: '/v1/mail-templates',
    summary: 'Set the template of a mail, for one product or all, in one language or every',
    body: {
      kind: {
        kind: 'text',
        help: 'The mail',
        choices: [
          'key',
          'key_on_request',
          'expiring',
          'expired',
          'fell_back',
          'renewal_failed',
          'usage',
          'new_device',
          'seats_full',
          'seat_given',
        ],
        required: true,
      },
      productId: { kind: 'text', help: 'The product; null for all products', nullable: true },
      language: {
        kind: 'text',
        help: 'The tag of the language of the customer; null for every language',
        nullable: true,
      },
      subject: { kind: 'text', help: 'One line, with placeholders', required: true },
      text: {
        kind: 'text',
        help: 'The plain text, with placeholders; paragraphs are separated by empty lines',
        required: true,
      },
      html: {
        kind: 'text',
        help: 'The whole HTML, with placeholders; null for the text in the frame of the built-in mails',
        nullable: true,
      },
    },
    dryRun: true,
  },
  removeMailTemplate: {
    method: 'DELETE',
    path: '/v1/mail-templates/{templateId}',
    summary: 'Remove a template',
    dryRun: true,
  },
  previewMail: {
    method: 'POST',
    path: '/v1/mail-templates/preview',
    summary: 'Show a mail with made-up values, as it would be sent',
    body: {
      kind: {
        kind: 'text',
        help: 'The mail',
        choices: [
          'key',
          'key_on_request',
          'expiring',
          'expired',
          'fell_back',
          'renewal_failed',
          'usage',
          'new_device',
          'seats_full',
          'seat_given',
        ],
        required: true,
      },
      productId: { kind: 'text', help: 'The product; null for all products', nullable: true },
      language: {
        kind: 'text',
        help: 'The tag of the language of the customer; null for every language',
        nullable: true,
      },
      template: {
        kind: 'json',
        help: 'The texts to show, which are not saved; null shows the mail as it is sent now',
        nullable: true,
      },
    },
    notRepeatable: true,
  },
  getMailStyle: {
    method: 'GET',
    path: '/v1/mail-style',
    summary: 'Read what all mails to customers have in common',
  },
  setMailStyle: {
    method: 'PUT',
    path: '/v1/mail-style',
    summary: 'Set what all mails to customers have in common; an omitted field returns to its default',
    body: {
      replyTo: { kind: 'text', help: 'Where replies go, for products that name no address', nullable: true },
      footer: {
        kind: 'text',
        help: 'The last lines of every mail, such as your address; plain text, null for none',
        nullable: true,
      },
      logo: { kind: 'flag', help: 'Whether mails show the logo of the customer portal at the top' },
    },
    dryRun: true,
  },
  getMailSender: { method: 'GET', path: '/v1/mail-sender', summary: 'Read which service tells of bounces' },
  connectMailSender: {
    method: 'PUT',
    path: '/v1/mail-sender',
    summary: 'Connect the service that sends your mails, so that bounces are shown',
    body: {
      sender: {
        kind: 'text',
        help: 'The service that sends your mails',
        choices: ['postmark', 'sendgrid', 'mailgun', 'amazon_ses', 'resend'],
        required: true,
      },
      key: {
        kind: 'text',
        help: 'What its notifications are verified with. `postmark`: none; `sendgrid`: Verification key; `mailgun`: HTTP webhook signing key; `amazon_ses`: ARN of the SNS topic; `resend`: Signing secret',
        nullable: true,
      },
    },
    dryRun: true,
  },
  disconnectMailSender: {
    method: 'DELETE',
    path: '/v1/mail-sender',
    summary: 'Disconnect the service; bounces are no longer recorded',
    dryRun: true,
  },
  listMails: {
    method: 'GET',
    path: '/v1/mails',
    summary: 'List the mails about licenses with all attempts and bounces, newest first',
    query: {
      status: {
        kind: 'text',
        help: 'Only mails with this status',
        choices: ['pending', 'delivered', 'abandoned'],
      },
      bounce: {
        kind: 'text',
        help: 'Only mails that bounced so, last',
        choices: ['permanent', 'transient', 'complaint'],
      },
      license: { kind: 'text', help: 'Only mails about the license with this id' },
      customer: { kind: 'text', help: 'Only mails about licenses of the customer with this id' },
    },
    paged: true,
  },
  getPortal: { method: 'GET', path: '/v1/portal', summary: 'Read the settings of the customer portal' },
  setPortal: {
    method: 'PUT',
    path: '/v1/portal',
    summary: 'Set the customer portal; an omitted field returns to its default',
    body: {
      enabled: { kind: 'flag', help: 'Whether the portal is open to customers', required: true },
      name: { kind: 'text', help: 'null shows the name of the workspace', nullable: true },
      supportEmail: {
        kind: 'text',
        help: 'Where your customers write to, shown in the portal; null shows no address',
        nullable: true,
      },
      accentColor: {
        kind: 'text',
        help: 'Of links and buttons; it must be readable on a light page',
        nullable: true,
      },
      texts: { kind: 'json', help: 'Your own texts, by language and name; others are the built-in ones' },
    },
    dryRun: true,
  },
  setPortalLogo: {
    method: 'PUT',
    path: '/v1/portal/logo',
    summary: 'Replace the logo of the customer portal',
    body: { data: { kind: 'file', help: 'The bytes of the picture, in base64', required: true } },
    dryRun: true,
  },
  removePortalLogo: {
    method: 'DELETE',
    path: '/v1/portal/logo',
    summary: 'Remove the logo of the customer portal',
    dryRun: true,
  },
  listPortalLanguages: {
    method: 'GET',
    path: '/v1/portal/languages',
    summary: 'List the languages of the customer portal',
  },
  getPortalLanguage: {
    method: 'GET',
    path: '/v1/portal/languages/{tag}',
    summary: 'Read a language with its texts',
  },
  setPortalLanguage: {
    method: 'PUT',
    path: '/v1/portal/languages/{tag}',
    summary: 'Add a language, or replace its name and texts',
    body: {
      name: { kind: 'text', help: 'What the language is called in that language', required: true },
      texts: {
        kind: 'pairs',
        help: 'Its texts by name: those of the portal, and those of the built-in mails, which begin with `mail.` and `news.`. A text that is left out is in English',
        required: true,
      },
    },
    dryRun: true,
  },
  removePortalLanguage: {
    method: 'DELETE',
    path: '/v1/portal/languages/{tag}',
    summary: 'Remove a language',
    dryRun: true,
  },
  getWorkspace: {
    method: 'GET',
    path: '/v1/workspace',
    summary: 'Read the name, the plan and the settings of the workspace',
  },
  updateWorkspace: {
    method: 'PATCH',
    path: '/v1/workspace',
    summary: 'Change the name or a setting of the workspace; omitted fields keep their value',
    body: {
      name: { kind: 'text', help: 'Shown on pages, in mails and in the portal' },
      customersByAddress: {
        kind: 'flag',
        help: "Whether licenses that are issued from now on belong to the customer with their holder's email address, who is created where there is none",
      },
    },
    dryRun: true,
  },
  listSignInProviders: {
    method: 'GET',
    path: '/v1/sign-in-providers',
    summary: 'List the providers that members and customers sign in with',
  },
  addSignInProvider: {
    method: 'POST',
    path: '/v1/sign-in-providers',
    summary: 'Add a provider of OpenID Connect that members sign in with, or customers',
    body: {
      id: { kind: 'text', help: 'The id of the sign-in provider, part of its redirect URI', required: true },
      issuer: {
        kind: 'text',
        help: 'The issuer, exactly as the provider writes it; it never changes',
        required: true,
      },
      audience: {
        kind: 'text',
        help: 'Who signs in: members of the workspace to the dashboard, or customers to the portal',
        choices: ['members', 'customers'],
      },
      customerId: {
        kind: 'text',
        help: 'The organization whose people sign in; null for members, and for all customers',
        nullable: true,
      },
      clientSecret: {
        kind: 'text',
        help: 'The client secret that the provider gave; it is never shown',
        required: true,
      },
      name: { kind: 'text', help: 'On the button of the sign-in page', required: true },
      clientId: { kind: 'text', help: 'The client ID that the provider gave', required: true },
      roleClaim: {
        kind: 'text',
        help: 'The claim whose values give roles, a text or a list of texts; null when people keep the role that they have here',
        nullable: true,
      },
      roles: {
        kind: 'json',
        help: 'Which value of the claim gives which role; of several, the first that fits counts',
      },
      defaultRole: {
        kind: 'text',
        help: 'The role without a mapped value, and of a new member or person without `roleClaim`; null refuses them',
        choices: ['owner', 'admin', 'developer', 'support', 'approver', 'auditor', 'administrator', 'member'],
        nullable: true,
      },
      domains: {
        kind: 'list',
        help: 'The domains of the email addresses that the provider may vouch for',
        required: true,
      },
    },
    gated: true,
    dryRun: true,
  },
  getSignInProvider: {
    method: 'GET',
    path: '/v1/sign-in-providers/{id}',
    summary: 'Read a sign-in provider',
  },
  changeSignInProvider: {
    method: 'PATCH',
    path: '/v1/sign-in-providers/{id}',
    summary: 'Change a sign-in provider; omitted fields keep their value',
    body: {
      clientSecret: { kind: 'text', help: 'The client secret that the provider gave; it is never shown' },
      name: { kind: 'text', help: 'On the button of the sign-in page' },
      clientId: { kind: 'text', help: 'The client ID that the provider gave' },
      roleClaim: {
        kind: 'text',
        help: 'The claim whose values give roles, a text or a list of texts; null when people keep the role that they have here',
        nullable: true,
      },
      roles: {
        kind: 'json',
        help: 'Which value of the claim gives which role; of several, the first that fits counts',
      },
      defaultRole: {
        kind: 'text',
        help: 'The role without a mapped value, and of a new member or person without `roleClaim`; null refuses them',
        choices: ['owner', 'admin', 'developer', 'support', 'approver', 'auditor', 'administrator', 'member'],
        nullable: true,
      },
      domains: { kind: 'list', help: 'The domains of the email addresses that the provider may vouch for' },
    },
    gated: true,
    dryRun: true,
  },
  deleteSignInProvider: {
    method: 'DELETE',
    path: '/v1/sign-in-providers/{id}',
    summary: 'Delete a sign-in provider',
    gated: true,
    dryRun: true,
  },
  getScim: {
    method: 'GET',
    path: '/v1/scim',
    summary: 'Read how a directory manages the members of the workspace',
  },
  setScim: {
    method: 'PUT',
    path: '/v1/scim',
    summary: 'Set which groups of the directory give which roles',
    body: {
      roles: {
        kind: 'json',
        help: 'Which group of the directory gives which role, by its exact name; of several, the first that fits counts. Empty: members keep the role that they have',
        required: true,
      },
      defaultRole: {
        kind: 'text',
        help: 'The role of members whom no group gives one; null: they have no access',
        choices: ['owner', 'admin', 'developer', 'support', 'approver', 'auditor'],
        required: true,
        nullable: true,
      },
    },
    gated: true,
    dryRun: true,
  },
  listRoles: { method: 'GET', path: '/v1/roles', summary: 'List the custom roles of the workspace' },
  addRole: {
    method: 'POST',
    path: '/v1/roles',
    summary: 'Add a custom role for members of the dashboard',
    body: {
      name: {
        kind: 'text',
        help: 'Its name, which no other role of the workspace and no built-in role has',
        required: true,
      },
      scopes: {
        kind: 'list',
        help: 'What its members may do, as the scopes of an API token',
        required: true,
      },
    },
    gated: true,
    dryRun: true,
  },
  getRole: { method: 'GET', path: '/v1/roles/{id}', summary: 'Read a custom role' },
  changeRole: {
    method: 'PATCH',
    path: '/v1/roles/{id}',
    summary: 'Change a custom role; omitted fields keep their value',
    body: {
      name: { kind: 'text', help: 'Its name, which no other role of the workspace and no built-in role has' },
      scopes: { kind: 'list', help: 'What its members may do, as the scopes of an API token' },
    },
    gated: true,
    dryRun: true,
  },
  deleteRole: {
    method: 'DELETE',
    path: '/v1/roles/{id}',
    summary: 'Delete a custom role',
    gated: true,
    dryRun: true,
  },
  listLicenses: {
    method: 'GET',
    path: '/v1/licenses',
    summary: 'List licenses, newest first',
    query: {
      product: { kind: 'text', help: 'Only what belongs to the product with this id' },
      status: {
        kind: 'text',
        help: 'Only licenses with this status',
        choices: ['active', 'fallback', 'expired', 'suspended', 'revoked'],
      },
      email: { kind: 'text', help: 'Only licenses issued to this email address' },
      customer: { kind: 'text', help: 'Only licenses of the customer with this id' },
      created_after: { kind: 'moment', help: 'Only licenses created at this time or later' },
      created_before: { kind: 'moment', help: 'Only licenses created before this time' },
      expires_before: {
        kind: 'moment',
        help: 'Only licenses that expire before this time, or have expired; without those that never expire',
      },
      source: {
        kind: 'text',
        help: 'Only licenses that came to be in this way',
        choices: ['api', 'import', 'sale', 'test'],
      },
      test: {
        kind: 'text',
        help: '`true`: only test licenses, which were not paid for; `false`: only the others',
        choices: ['true', 'false'],
      },
      shared: {
        kind: 'text',
        help: '`true`: only licenses that look shared, with an open notice; `false`: only the others',
        choices: ['true', 'false'],
      },
      metadata: { kind: 'pairs', help: 'Only licenses with these pairs: `metadata[order]=4711`' },
    },
    paged: true,
  },
  mintLicense: {
    method: 'POST',
    path: '/v1/licenses',
    summary: 'Mint a license; its raw key is shown only in this response',
    body: {
      productId: { kind: 'text', help: 'The id of the product, unique within the tenant', required: true },
      keyTypeId: { kind: 'text', help: "Defaults to the product's first key type" },
      quantity: {
        kind: 'number',
        help: 'The number of units; 1 by default. The device limit of the key type counts for each of them',
      },
      email: {
        kind: 'text',
        help: 'The email address of the person who holds the license; stored encrypted',
      },
      name: { kind: 'text', help: 'The name of the person; stored only together with an email address' },
      customerId: {
        kind: 'text',
        help: 'Links the license to this customer, whose entitlement overrides then apply to it',
      },
      expiresAt: { kind: 'moment', help: 'null is perpetual; truncated to the second', nullable: true },
      deviceLimit: { kind: 'number', help: 'null is unlimited', nullable: true },
      updatesUntil: {
        kind: 'moment',
        help: 'The last moment of a build that the license covers; truncated to the second. null covers every build; when absent, the `updates` of the key type count from now',
        nullable: true,
      },
      metadata: {
        kind: 'pairs',
        help: 'Your own pairs of text, at most 50. keyledger stores them and does not read them',
      },
      sendKey: {
        kind: 'flag',
        help: 'Whether the key is also sent by mail to the person of the license. Without an email address, or where the product sends no mails, the answer is 409',
      },
    },
    dryRun: true,
  },
  getLicense: {
    method: 'GET',
    path: '/v1/licenses/{id}',
    summary: 'Read a license with its devices, now or at a past moment',
    query: {
      asOf: {
        kind: 'text',
        help: 'Return the state at this moment: an ISO 8601 time, or the sequence of an event in its history. Events recorded exactly at that time are included',
      },
    },
  },
  updateLicense: {
    method: 'PATCH',
    path: '/v1/licenses/{id}',
    summary: 'Change a license; omitted fields keep their value',
    body: {
      keyTypeId: { kind: 'text', help: 'The id of another key type of the same product' },
      quantity: { kind: 'number', help: 'The number of units' },
      deviceLimit: {
        kind: 'number',
        help: 'null is unlimited. Fewer than the seats in use lowers the limit and frees none',
        nullable: true,
      },
      expiresAt: { kind: 'moment', help: 'null is perpetual; truncated to the second', nullable: true },
      updatesUntil: {
        kind: 'moment',
        help: 'The last moment of a build that the license covers; truncated to the second. null covers every build; absent keeps it',
        nullable: true,
      },
      email: { kind: 'text', help: 'null removes the person', nullable: true },
      name: {
        kind: 'text',
        help: 'The name of the person; stored only together with an email address',
        nullable: true,
      },
      metadata: { kind: 'pairs', help: 'Replaces all of it' },
      reason: { kind: 'text', help: "Shown in the license's history" },
    },
    dryRun: true,
  },
  revokeLicense: {
    method: 'POST',
    path: '/v1/licenses/{id}/revoke',
    summary: 'Revoke a license permanently',
    body: { reason: { kind: 'text', help: "Shown in the license's history" } },
    gated: true,
    dryRun: true,
  },
  searchLicenses: {
    method: 'POST',
    path: '/v1/licenses/search',
    summary: 'Find licenses by anything that a customer names, a license key included',
    body: {
      text: {
        kind: 'text',
        help: 'A license key or the end of one, three or more characters of an email address or a name, four or more characters of an order number or of a provider’s id of a sale, the id or the name of a device, or three or more characters from the beginning of one, or an id of a license, a customer or a request',
        required: true,
      },
    },
  },
  remintLicense: {
    method: 'POST',
    path: '/v1/licenses/{id}/remint',
    summary: 'Remint a license; its new key is shown only in this response',
    body: {
      keepDevices: {
        kind: 'flag',
        help: 'Whether the devices keep their seats; otherwise all seats are freed',
      },
      sendKey: {
        kind: 'flag',
        help: 'Whether the key is also sent by mail to the person of the license. Without an email address, or where the product sends no mails, the answer is 409',
      },
      reason: { kind: 'text', help: "Shown in the license's history" },
    },
    dryRun: true,
  },
  sendLicenseKey: {
    method: 'POST',
    path: '/v1/licenses/{id}/send-key',
    summary: 'Mail the kept key of a license to its holder again',
    body: { reason: { kind: 'text', help: "Shown in the license's history" } },
    dryRun: true,
  },
  deactivateDeviceOfLicense: {
    method: 'POST',
    path: '/v1/licenses/{id}/deactivate-device',
    summary: 'Deactivate a device; repeating it gets the same response',
    body: {
      deviceId: { kind: 'text', help: 'The id that was passed to activate' },
      instanceId: { kind: 'text', help: 'The instance id that activate returned' },
      reason: { kind: 'text', help: "Shown in the license's history" },
    },
    dryRun: true,
  },
  listLicenseFiles: {
    method: 'GET',
    path: '/v1/licenses/{id}/files',
    summary: 'List the license files that were made for the devices of a license',
  },
  createLicenseFile: {
    method: 'POST',
    path: '/v1/licenses/{id}/files',
    summary: 'Make a license file for a device without a network, which takes a seat',
    body: {
      request: {
        kind: 'text',
        help: 'The request that the app made on the device, as text or as its QR code has it',
        required: true,
      },
      days: {
        kind: 'number',
        help: 'How long the file is good; as long as the key type allows when absent. It ends with the license at the latest',
      },
    },
  },
  releaseLicenseFile: {
    method: 'POST',
    path: '/v1/licenses/{id}/files/release',
    summary:
      'Take the license file of a device back, which frees its seat; repeating it gets the same response',
    body: {
      release: {
        kind: 'text',
        help: 'The release that the app made on the device, signed by the key that the file was made for',
        required: true,
      },
    },
  },
  listLicenseMeters: {
    method: 'GET',
    path: '/v1/licenses/{id}/meters',
    summary: 'Show what a license has used under each meter in the present period',
  },
  listMeterLines: {
    method: 'GET',
    path: '/v1/licenses/{id}/meters/{meter}/uses',
    summary: 'List what was counted under a meter of a license, line by line',
    paged: true,
  },
  addCredit: {
    method: 'POST',
    path: '/v1/licenses/{id}/credits',
    summary: 'Add a prepaid amount to a meter of a license; repeating it adds nothing',
    body: {
      meter: { kind: 'text', help: 'The id of the meter, as the key type has it', required: true },
      amount: {
        kind: 'text',
        help: 'How much, as a decimal number in a string with up to 6 places: as a JSON number it could lose digits',
        required: true,
      },
      expiresAt: {
        kind: 'moment',
        help: 'From when on it cannot be spent; null, or absent, for never',
        nullable: true,
      },
      order: { kind: 'text', help: 'The number of the purchase, as you know it' },
      idempotencyKey: {
        kind: 'text',
        help: 'Names this request under its meter: it counts once, however often it is sent',
        required: true,
      },
    },
    dryRun: true,
  },
  withdrawCredit: {
    method: 'POST',
    path: '/v1/licenses/{id}/meters/{meter}/credits/{creditId}/withdraw',
    summary: 'Take back what is left of a credit of a license',
    body: { reason: { kind: 'text', help: 'Why; it stays with the line', required: true } },
    dryRun: true,
  },
  correctUse: {
    method: 'POST',
    path: '/v1/licenses/{id}/meters/{meter}/corrections',
    summary:
      'Take off what was counted wrongly under a meter of a license in the present period; repeating it takes off nothing more',
    body: {
      amount: { kind: 'text', help: 'How much was counted too much', required: true },
      reason: { kind: 'text', help: 'Why; it stays with the line', required: true },
      idempotencyKey: {
        kind: 'text',
        help: 'Names this request under its meter: it counts once, however often it is sent',
        required: true,
      },
    },
    dryRun: true,
  },
  listCustomerMeters: {
    method: 'GET',
    path: '/v1/customers/{id}/meters',
    summary: "Show what a customer's licenses have used under each meter in the present period",
  },
  listCustomerMeterLines: {
    method: 'GET',
    path: '/v1/customers/{id}/meters/{meter}/uses',
    summary: 'List what was counted under a meter of a customer, line by line',
    paged: true,
  },
  addCustomerCredit: {
    method: 'POST',
    path: '/v1/customers/{id}/credits',
    summary: 'Add a prepaid amount to a meter of a customer; repeating it adds nothing',
    body: {
      meter: { kind: 'text', help: 'The id of the meter, as the key type has it', required: true },
      amount: {
        kind: 'text',
        help: 'How much, as a decimal number in a string with up to 6 places: as a JSON number it could lose digits',
        required: true,
      },
      expiresAt: {
        kind: 'moment',
        help: 'From when on it cannot be spent; null, or absent, for never',
        nullable: true,
      },
      order: { kind: 'text', help: 'The number of the purchase, as you know it' },
      idempotencyKey: {
        kind: 'text',
        help: 'Names this request under its meter: it counts once, however often it is sent',
        required: true,
      },
    },
    dryRun: true,
  },
  withdrawCustomerCredit: {
    method: 'POST',
    path: '/v1/customers/{id}/meters/{meter}/credits/{creditId}/withdraw',
    summary: 'Take back what is left of a credit of a customer',
    body: { reason: { kind: 'text', help: 'Why; it stays with the line', required: true } },
    dryRun: true,
  },
  correctCustomerUse: {
    method: 'POST',
    path: '/v1/customers/{id}/meters/{meter}/corrections',
    summary:
      'Take off what was counted wrongly under a meter of a customer in the present period; repeating it takes off nothing more',
    body: {
      amount: { kind: 'text', help: 'How much was counted too much', required: true },
      reason: { kind: 'text', help: 'Why; it stays with the line', required: true },
      idempotencyKey: {
        kind: 'text',
        help: 'Names this request under its meter: it counts once, however often it is sent',
        required: true,
      },
    },
    dryRun: true,
  },
  listRelays: { method: 'GET', path: '/v1/licenses/{id}/relays', summary: 'List the relays of a license' },
  certifyRelay: {
    method: 'POST',
    path: '/v1/licenses/{id}/relays',
    summary: "Enroll a relay in a customer's network, which takes its seats, or renew it",
    body: {
      request: {
        kind: 'text',
        help: 'The request that the relay made, to be enrolled or renewed',
        required: true,
      },
      days: {
        kind: 'number',
        help: 'How long the relay may go on without renewal; as long as the key type allows when absent. It ends with the license at the latest',
      },
      reason: { kind: 'text', help: "Shown in the license's history" },
    },
  },
  releaseRelay: {
    method: 'POST',
    path: '/v1/licenses/{id}/relays/release',
    summary: 'Take the seats of a relay back; repeating it gets the same response',
    body: {
      release: { kind: 'text', help: 'The release that the relay made when it stopped', required: true },
    },
  },
  listSeatedPeople: {
    method: 'GET',
    path: '/v1/licenses/{id}/people',
    summary: 'List the people who have seats of a license, those who joined the organization last first',
    paged: true,
  },
  assignSeat: {
    method: 'POST',
    path: '/v1/licenses/{id}/people',
    summary: 'Give a person of the organization a seat; one who has a seat keeps it and their key',
    body: {
      personId: { kind: 'text', help: 'The id that the person has in the organization', required: true },
    },
  },
  replacePersonalKey: {
    method: 'POST',
    path: '/v1/licenses/{id}/people/{personId}/key',
    summary: 'Give a person who has a seat a new key',
  },
  unassignSeat: {
    method: 'DELETE',
    path: '/v1/licenses/{id}/people/{personId}',
    summary: 'Take the seat of a person, and free their devices; repeating it gets the same response',
    dryRun: true,
  },
  suspendLicense: {
    method: 'POST',
    path: '/v1/licenses/{id}/suspend',
    summary: 'Suspend a license until it is resumed; repeating it changes nothing',
    body: { reason: { kind: 'text', help: "Shown in the license's history" } },
    dryRun: true,
  },
  resumeLicense: {
    method: 'POST',
    path: '/v1/licenses/{id}/resume',
    summary: 'Resume a suspended license; one that is not suspended is left unchanged',
    body: { reason: { kind: 'text', help: "Shown in the license's history" } },
    dryRun: true,
  },
  allowSharing: {
    method: 'POST',
    path: '/v1/licenses/{id}/allow-sharing',
    summary: 'Allow a license that looks shared to be used as it is',
    body: {
      allowed: {
        kind: 'flag',
        help: 'Whether it may be used as it is; `false` has the rules of its product notice it again',
        required: true,
      },
      reason: { kind: 'text', help: "Shown in the license's history" },
    },
    dryRun: true,
  },
  reportPublishedKeys: {
    method: 'POST',
    path: '/v1/licenses/published-keys',
    summary: 'Notice the licenses whose keys were found published',
    body: {
      found: {
        kind: 'list',
        help: 'The license keys that were found published, or the SHA-256 of each in hex, as its lease has it',
        required: true,
      },
    },
    dryRun: true,
  },
  getLicenseHistory: {
    method: 'GET',
    path: '/v1/licenses/{id}/history',
    summary: 'Read the history of a license: what happened, when, by whom, and what it changed',
    paged: true,
  },
  explainLicense: {
    method: 'GET',
    path: '/v1/licenses/{id}/explain',
    summary: 'Explain what validate and activate would return, now or at a past moment',
    query: {
      device_id: { kind: 'text', help: 'When absent, only the license is checked' },
      asOf: {
        kind: 'text',
        help: 'Return the state at this moment: an ISO 8601 time, or the sequence of an event in its history. Events recorded exactly at that time are included',
      },
    },
  },
  compareLicense: {
    method: 'GET',
    path: '/v1/licenses/{id}/diff',
    summary: 'Compare a license at two moments',
    query: {
      from: {
        kind: 'text',
        help: 'The earlier moment: an ISO 8601 time, or the sequence of an event in its history. Events recorded exactly at that time are included',
        required: true,
      },
      to: {
        kind: 'text',
        help: 'The later moment, or now when it is absent: an ISO 8601 time, or the sequence of an event in its history. Events recorded exactly at that time are included',
      },
    },
  },
  importLicenses: {
    method: 'POST',
    path: '/v1/licenses/import',
    summary: 'Import licenses from another system, at most 1,000 per call',
    body: {
      productId: { kind: 'text', help: 'The id of the product, unique within the tenant', required: true },
      licenses: { kind: 'json', help: 'The licenses to import, one a row', required: true },
    },
    dryRun: true,
  },
  reinstateLicense: {
    method: 'POST',
    path: '/v1/licenses/{id}/reinstate',
    summary: 'Reinstate a revoked license',
    body: { reason: { kind: 'text', help: "Shown in the license's history" } },
    gated: true,
    dryRun: true,
  },
  reseatDevice: {
    method: 'POST',
    path: '/v1/licenses/{id}/reseat-device',
    summary: 'Give a deactivated device its seat back, with the name that it had',
    body: {
      deviceId: { kind: 'text', help: 'The id of the device, as listed with the license', required: true },
    },
    gated: true,
    dryRun: true,
  },
  takeBackImport: {
    method: 'POST',
    path: '/v1/licenses/{id}/take-back-import',
    summary: 'Take back the import of an unused license',
    body: { reason: { kind: 'text', help: "Shown in the license's history" } },
    gated: true,
    dryRun: true,
  },
  exportLicenses: {
    method: 'GET',
    path: '/v1/licenses/export',
    summary: 'Export licenses as JSON lines or CSV, newest first; keys are masked',
    query: {
      format: { kind: 'text', help: 'One line per license, as JSON or CSV', choices: ['ndjson', 'csv'] },
      product: { kind: 'text', help: 'Only licenses of the product with this id' },
      status: {
        kind: 'text',
        help: 'Only licenses with this status',
        choices: ['active', 'fallback', 'expired', 'suspended', 'revoked'],
      },
    },
    gated: true,
    dryRun: true,
  },
  getEvidence: {
    method: 'GET',
    path: '/v1/licenses/{id}/evidence',
    summary: 'Download all evidence about a license as one signed archive',
  },
  getReceipt: {
    method: 'GET',
    path: '/v1/licenses/{id}/receipt',
    summary: 'Prove that a license is in the log',
  },
  listCustomers: {
    method: 'GET',
    path: '/v1/customers',
    summary: 'List customers, newest first',
    query: {
      email: { kind: 'text', help: 'The whole email address of the customer' },
      name: { kind: 'text', help: 'Three or more characters of the name of the customer' },
    },
    paged: true,
  },
  createCustomer: {
    method: 'POST',
    path: '/v1/customers',
    summary: 'Create a customer',
    body: {
      email: { kind: 'text', help: 'Their email address', required: true },
      name: { kind: 'text', help: 'Their name' },
      metadata: {
        kind: 'pairs',
        help: 'Your own pairs of text, at most 50. keyledger stores them and does not read them',
      },
      meters: {
        kind: 'json',
        help: 'What the licenses of the customer share of what is metered. Under such a meter they use what the customer has, not what their key types have; what was used stays counted',
      },
    },
    dryRun: true,
  },
  getCustomer: {
    method: 'GET',
    path: '/v1/customers/{id}',
    summary: 'Read a customer, now or at a past moment',
    query: {
      asOf: {
        kind: 'text',
        help: 'Return the state at this moment: an ISO 8601 time, or the sequence of an event in its history. Events recorded exactly at that time are included',
      },
    },
  },
  updateCustomer: {
    method: 'PATCH',
    path: '/v1/customers/{id}',
    summary: 'Change a customer; omitted fields keep their value',
    body: {
      email: { kind: 'text', help: 'Their new email address' },
      name: { kind: 'text', help: 'Their new name; null removes it', nullable: true },
      metadata: { kind: 'pairs', help: 'Replaces all pairs' },
      meters: {
        kind: 'json',
        help: 'What the licenses of the customer share of what is metered. Under such a meter they use what the customer has, not what their key types have; what was used stays counted. Replaces all meters',
      },
    },
    dryRun: true,
  },
  eraseCustomer: {
    method: 'DELETE',
    path: '/v1/customers/{id}',
    summary: 'Erase the person behind a customer everywhere; their licenses stay and are marked',
    gated: true,
    dryRun: true,
  },
  linkLicense: {
    method: 'POST',
    path: '/v1/customers/{id}/link-license',
    summary: 'Link a license to a customer; repeating it changes nothing',
    body: {
      licenseId: { kind: 'text', help: 'The id of the license', required: true },
      reason: { kind: 'text', help: "Shown in the license's history" },
    },
    dryRun: true,
  },
  unlinkLicense: {
    method: 'POST',
    path: '/v1/customers/{id}/unlink-license',
    summary: 'Unlink a license from a customer; repeating it changes nothing',
    body: { licenseId: { kind: 'text', help: 'The id of the license', required: true } },
    dryRun: true,
  },
  linkLicensesByAddress: {
    method: 'POST',
    path: '/v1/customers/link-licenses',
    summary: "Link licenses without a customer to the customers with their holders' email addresses",
    dryRun: true,
  },
  mergeCustomer: {
    method: 'POST',
    path: '/v1/customers/{id}/merge',
    summary: 'Merge a customer into another one; repeating it changes nothing',
    body: { into: { kind: 'text', help: 'The id of the customer that stays', required: true } },
    dryRun: true,
  },
  unmergeCustomer: {
    method: 'POST',
    path: '/v1/customers/{id}/unmerge',
    summary: 'Undo the merge of a customer; repeating it changes nothing',
    dryRun: true,
  },
  listLicensesOfCustomer: {
    method: 'GET',
    path: '/v1/customers/{id}/licenses',
    summary: "List a customer's linked licenses, newest first",
    paged: true,
  },
  listSalesOfCustomer: {
    method: 'GET',
    path: '/v1/customers/{id}/sales',
    summary: "List the sales of a customer's licenses and those to the same email address, newest first",
    paged: true,
  },
  replaceEntitlementOverrides: {
    method: 'PATCH',
    path: '/v1/customers/{id}/entitlements',
    summary: "Replace a customer's entitlement overrides; they apply from the next validate",
    body: {
      overrides: {
        kind: 'json',
        help: 'All overrides of the customer, in any order; none removes them',
        required: true,
      },
    },
    dryRun: true,
  },
  listCustomerNotes: {
    method: 'GET',
    path: '/v1/customers/{id}/notes',
    summary: 'List the notes about a customer, newest first',
    paged: true,
  },
  addCustomerNote: {
    method: 'POST',
    path: '/v1/customers/{id}/notes',
    summary: 'Add a note about a customer',
    body: {
      text: {
        kind: 'text',
        help: 'What is to be known of the customer; may have several lines',
        required: true,
      },
    },
    dryRun: true,
  },
  removeCustomerNote: {
    method: 'DELETE',
    path: '/v1/customers/{id}/notes/{noteId}',
    summary: 'Remove a note about a customer; repeating it changes nothing',
    dryRun: true,
  },
  formOrganization: {
    method: 'POST',
    path: '/v1/customers/{id}/organization',
    summary: 'Make a customer an organization with people; repeating it changes nothing',
    dryRun: true,
  },
  dissolveOrganization: {
    method: 'DELETE',
    path: '/v1/customers/{id}/organization',
    summary: 'Make an organization a customer of one person again; repeating it changes nothing',
    dryRun: true,
  },
  listPeople: {
    method: 'GET',
    path: '/v1/customers/{id}/people',
    summary: 'List the people of an organization, newest first',
    paged: true,
  },
  addPeople: {
    method: 'POST',
    path: '/v1/customers/{id}/people',
    summary: 'Add people to an organization, and invite them by email',
    body: {
      people: {
        kind: 'json',
        help: 'Who is added; of one address that is there twice, the last counts',
        required: true,
      },
      invite: {
        kind: 'flag',
        help: 'Whether they get an invitation; true when absent. It needs an open portal',
      },
      language: {
        kind: 'text',
        help: 'The language of the invitation; when absent, that of their last one, else English',
      },
    },
    dryRun: true,
  },
  changePersonRole: {
    method: 'PATCH',
    path: '/v1/customers/{id}/people/{personId}',
    summary: 'Change what a person of an organization may do',
    body: {
      role: {
        kind: 'text',
        help: '`administrator`: sees and changes the licenses of the organization in the portal, and invites and removes people. `member`: sees the licenses and their devices',
        choices: ['administrator', 'member'],
        required: true,
      },
    },
    dryRun: true,
  },
  removePerson: {
    method: 'DELETE',
    path: '/v1/customers/{id}/people/{personId}',
    summary: 'Remove a person from an organization',
    dryRun: true,
  },
  invitePerson: {
    method: 'POST',
    path: '/v1/customers/{id}/people/{personId}/invite',
    summary: 'Send a person of an organization another invitation',
    body: {
      language: {
        kind: 'text',
        help: 'The language of the invitation; when absent, that of their last one, else English',
      },
    },
    dryRun: true,
  },
  listResellers: {
    method: 'GET',
    path: '/v1/resellers',
    summary: 'List resellers, newest first',
    paged: true,
  },
  createReseller: {
    method: 'POST',
    path: '/v1/resellers',
    summary: 'Create a reseller, who mints licenses within quotas',
    body: {
      name: { kind: 'text', help: 'The name of the reseller', required: true },
      quotas: {
        kind: 'json',
        help: 'What the reseller may mint: one quota for each key type',
        required: true,
      },
    },
    dryRun: true,
  },
  getReseller: {
    method: 'GET',
    path: '/v1/resellers/{id}',
    summary: 'Read a reseller, with what is used of their quotas',
  },
  updateReseller: {
    method: 'PATCH',
    path: '/v1/resellers/{id}',
    summary: 'Change the name or the quotas of a reseller; omitted fields keep their value',
    body: {
      name: { kind: 'text', help: 'The name of the reseller' },
      quotas: { kind: 'json', help: 'What the reseller may mint: one quota for each key type' },
    },
    dryRun: true,
  },
  closeReseller: {
    method: 'POST',
    path: '/v1/resellers/{id}/close',
    summary: 'Close a reseller for good',
    gated: true,
    dryRun: true,
  },
  readUsage: {
    method: 'GET',
    path: '/v1/usage',
    summary: 'Count activations and validations by hour or day, in UTC',
    query: {
      product: { kind: 'text', help: 'Only what belongs to the product with this id' },
      from: { kind: 'moment', help: 'The hour or day that contains this time is the first point' },
      to: {
        kind: 'moment',
        help: 'Points that start at or after this time, or in the future, are left out; defaults to now',
      },
      granularity: { kind: 'text', help: 'How long one point is', choices: ['hour', 'day'] },
    },
  },
  readSeatsOfLicense: {
    method: 'GET',
    path: '/v1/licenses/{id}/seats',
    summary: 'Read the floating seats of a license in use over time, and what fewer seats would have refused',
    query: {
      from: {
        kind: 'moment',
        help: 'The first point contains this time; defaults to 30 days before the end, and is at most 400 days ago',
      },
      to: { kind: 'moment', help: 'Points that start at or after this time are left out; defaults to now' },
      seats: {
        kind: 'number',
        help: 'Also says how many takings of the range so many seats would have refused; for at most 31 days',
      },
    },
  },
  readSeatsOfProduct: {
    method: 'GET',
    path: '/v1/products/{productId}/seats',
    summary: "Read the floating seats of a product's licenses in use over time",
    query: {
      from: {
        kind: 'moment',
        help: 'The first point contains this time; defaults to 30 days before the end, and is at most 400 days ago',
      },
      to: { kind: 'moment', help: 'Points that start at or after this time are left out; defaults to now' },
    },
  },
  readSeatsOfCustomer: {
    method: 'GET',
    path: '/v1/customers/{id}/seats',
    summary: "Read the floating seats of a customer's licenses in use over time",
    query: {
      from: {
        kind: 'moment',
        help: 'The first point contains this time; defaults to 30 days before the end, and is at most 400 days ago',
      },
      to: { kind: 'moment', help: 'Points that start at or after this time are left out; defaults to now' },
    },
  },
  readMeteredUseOfLicense: {
    method: 'GET',
    path: '/v1/licenses/{id}/usage',
    summary: 'Read what a license used under its meters by hour or day',
    query: {
      from: { kind: 'moment', help: 'The hour or day that contains this time is the first point' },
      to: {
        kind: 'moment',
        help: 'Points that start at or after this time, or in the future, are left out; defaults to now',
      },
      granularity: { kind: 'text', help: 'How long one point is', choices: ['hour', 'day'] },
    },
  },
  readMeteredUseOfProduct: {
    method: 'GET',
    path: '/v1/products/{productId}/usage',
    summary: "Read what a product's licenses used under their meters by hour or day",
    query: {
      from: { kind: 'moment', help: 'The hour or day that contains this time is the first point' },
      to: {
        kind: 'moment',
        help: 'Points that start at or after this time, or in the future, are left out; defaults to now',
      },
      granularity: { kind: 'text', help: 'How long one point is', choices: ['hour', 'day'] },
    },
  },
  readMeteredUseOfCustomer: {
    method: 'GET',
    path: '/v1/customers/{id}/usage',
    summary: "Read what a customer's licenses used under their meters by hour or day",
    query: {
      from: { kind: 'moment', help: 'The hour or day that contains this time is the first point' },
      to: {
        kind: 'moment',
        help: 'Points that start at or after this time, or in the future, are left out; defaults to now',
      },
      granularity: { kind: 'text', help: 'How long one point is', choices: ['hour', 'day'] },
    },
  },
  exportMeteredUse: {
    method: 'GET',
    path: '/v1/usage/export',
    summary: 'Export what licenses used under their meters as CSV, to be billed',
    query: {
      of: {
        kind: 'text',
        help: 'What a row is: what was used under a meter of a license in one period, or one line of it',
        choices: ['totals', 'lines'],
      },
      from: {
        kind: 'moment',
        help: 'Lines that were recorded at this time or later; defaults to the start of the present month in UTC',
      },
      to: { kind: 'moment', help: 'Lines that were recorded before this time; defaults to now' },
      product: { kind: 'text', help: 'Only what belongs to the product with this id' },
      customer: { kind: 'text', help: 'Only of licenses that are linked to this customer now' },
      license: {
        kind: 'text',
        help: 'Only of this license, also of a test license, which are left out otherwise',
      },
    },
  },
  readInsights: {
    method: 'GET',
    path: '/v1/insights',
    summary: 'Read sales, licenses, app versions and trials by day, in UTC',
    query: {
      from: { kind: 'moment', help: 'The day in UTC that contains this time is the first one' },
      to: {
        kind: 'moment',
        help: 'Days that start at or after this time, or in the future, are left out; defaults to now',
      },
    },
  },
  listRefusalsOfLicense: {
    method: 'GET',
    path: '/v1/licenses/{id}/refusals',
    summary: 'List the refused calls of a license by device, call and reason, newest first',
    paged: true,
  },
  listRefusals: {
    method: 'GET',
    path: '/v1/refusals',
    summary: 'List the refused calls of all licenses by device, call and reason, newest first',
    query: {
      product: { kind: 'text', help: 'Only what belongs to the product with this id' },
      call: {
        kind: 'text',
        help: 'Only refusals of this call',
        choices: ['activate', 'validate', 'heartbeat', 'consume', 'hold'],
      },
      reason: { kind: 'text', help: 'Only refusals with this reason' },
    },
    paged: true,
  },
  listRefusedCallsByDay: {
    method: 'GET',
    path: '/v1/refusals/days',
    summary: 'Count refused calls by day, product, call and reason, newest day first',
    query: { product: { kind: 'text', help: 'Only what belongs to the product with this id' } },
    paged: true,
  },
  listUnknownKeys: {
    method: 'GET',
    path: '/v1/refusals/unknown-keys',
    summary: 'List the keys that no license has, by product and day, newest first',
    query: { product: { kind: 'text', help: 'Only what belongs to the product with this id' } },
    paged: true,
  },
  getSdkKey: {
    method: 'GET',
    path: '/v1/sdk-key',
    summary: 'Show the SDK key; creates the first one if there is none',
    gated: true,
    dryRun: true,
  },
  rotateSdkKey: {
    method: 'POST',
    path: '/v1/sdk-key/rotate',
    summary: 'Replace the SDK key; the previous one is rejected immediately',
    gated: true,
    dryRun: true,
  },
  getWebhook: { method: 'GET', path: '/v1/webhook', summary: 'Read the webhook settings' },
  setWebhook: {
    method: 'PUT',
    path: '/v1/webhook',
    summary: 'Set or remove the webhook',
    body: {
      url: {
        kind: 'text',
        help: 'An https URL with a public address; null removes the webhook',
        required: true,
        nullable: true,
      },
      events: {
        kind: 'list',
        help: 'A set. When absent, the current events stay; all but license.issued, license.linked, license.unlinked, license.holder_erased, license.revocation_undone, license.updates_extended, license.expiring, license.renewal_failed, license.relay_forked, license.seats_exhausted, license.seat_assigned, license.seat_unassigned, license.shared, license.sharing_allowed, usage.threshold, usage.period_closed at first',
      },
      rotateSecret: { kind: 'flag', help: 'Creates a new secret; the previous one stays valid for 24 hours' },
    },
    gated: true,
    dryRun: true,
  },
  listWebhookEndpoints: {
    method: 'GET',
    path: '/v1/webhook-endpoints',
    summary: 'List the webhook endpoints',
  },
  addWebhookEndpoint: {
    method: 'POST',
    path: '/v1/webhook-endpoints',
    summary: 'Add a webhook endpoint',
    body: {
      url: { kind: 'text', help: 'An https URL with a public address', required: true },
      events: {
        kind: 'list',
        help: 'A set; all but license.issued, license.linked, license.unlinked, license.holder_erased, license.revocation_undone, license.updates_extended, license.expiring, license.renewal_failed, license.relay_forked, license.seats_exhausted, license.seat_assigned, license.seat_unassigned, license.shared, license.sharing_allowed, usage.threshold, usage.period_closed when absent',
      },
      description: { kind: 'text', help: 'Your own words, for example what the endpoint is for' },
      ordering: {
        kind: 'text',
        help: '`license`: the events of a license are sent in order, each after the one before it was delivered or abandoned. `none`: as fast as possible, in any order',
        choices: ['license', 'none'],
      },
    },
    gated: true,
    dryRun: true,
  },
  getWebhookEndpoint: {
    method: 'GET',
    path: '/v1/webhook-endpoints/{id}',
    summary: 'Read a webhook endpoint',
  },
  changeWebhookEndpoint: {
    method: 'PATCH',
    path: '/v1/webhook-endpoints/{id}',
    summary: 'Change, pause or resume a webhook endpoint; omitted fields keep their value',
    body: {
      url: { kind: 'text', help: 'An https URL with a public address' },
      events: { kind: 'list', help: 'A set' },
      description: { kind: 'text', help: 'Your own words, for example what the endpoint is for' },
      ordering: {
        kind: 'text',
        help: '`license`: the events of a license are sent in order, each after the one before it was delivered or abandoned. `none`: as fast as possible, in any order',
        choices: ['license', 'none'],
      },
      paused: { kind: 'flag', help: 'While true, deliveries to the endpoint wait' },
    },
    gated: true,
    dryRun: true,
  },
  deleteWebhookEndpoint: {
    method: 'DELETE',
    path: '/v1/webhook-endpoints/{id}',
    summary: 'Delete a webhook endpoint',
    gated: true,
    dryRun: true,
  },
  rotateWebhookSecret: {
    method: 'POST',
    path: '/v1/webhook-endpoints/{id}/rotate-secret',
    summary: "Rotate a webhook endpoint's signing secret",
    gated: true,
    dryRun: true,
  },
  testWebhookEndpoint: {
    method: 'POST',
    path: '/v1/webhook-endpoints/{id}/test',
    summary: 'Send a test event to a webhook endpoint, and return what it answers',
    body: {
      event: {
        kind: 'text',
        help: 'The event to send; by default the first that the endpoint gets',
        choices: [
          'license.created',
          'license.activated',
          'license.deactivated',
          'license.expired',
          'license.renewed',
          'license.updated',
          'license.refunded',
          'license.reinstated',
          'license.suspended',
          'license.resumed',
          'license.revoked',
          'license.reminted',
          'license.issued',
          'license.linked',
          'license.unlinked',
          'license.holder_erased',
          'license.revocation_undone',
          'license.updates_extended',
          'license.expiring',
          'license.renewal_failed',
          'license.relay_forked',
          'license.seats_exhausted',
          'license.seat_assigned',
          'license.seat_unassigned',
          'license.shared',
          'license.sharing_allowed',
          'usage.threshold',
          'usage.period_closed',
        ],
      },
    },
    notRepeatable: true,
  },
  listDeliveries: {
    method: 'GET',
    path: '/v1/webhook/deliveries',
    summary: 'List deliveries to the webhook endpoints with all attempts, newest first',
    query: {
      status: {
        kind: 'text',
        help: 'Only deliveries with this status',
        choices: ['pending', 'delivered', 'abandoned'],
      },
      event: {
        kind: 'text',
        help: 'Only deliveries of this event',
        choices: [
          'license.created',
          'license.activated',
          'license.deactivated',
          'license.expired',
          'license.renewed',
          'license.updated',
          'license.refunded',
          'license.reinstated',
          'license.suspended',
          'license.resumed',
          'license.revoked',
          'license.reminted',
          'license.issued',
          'license.linked',
          'license.unlinked',
          'license.holder_erased',
          'license.revocation_undone',
          'license.updates_extended',
          'license.expiring',
          'license.renewal_failed',
          'license.relay_forked',
          'license.seats_exhausted',
          'license.seat_assigned',
          'license.seat_unassigned',
          'license.shared',
          'license.sharing_allowed',
          'usage.threshold',
          'usage.period_closed',
        ],
      },
      endpoint: { kind: 'text', help: 'Only deliveries to the webhook endpoint with this id' },
      license: { kind: 'text', help: 'Only deliveries about the license with this id' },
    },
    paged: true,
  },
  getDelivery: {
    method: 'GET',
    path: '/v1/webhook/deliveries/{id}',
    summary: 'Read a delivery with its payload',
  },
  redeliver: {
    method: 'POST',
    path: '/v1/webhook/deliveries/{id}/redeliver',
    summary: 'Redeliver now',
    dryRun: true,
  },
  createWebhookReplay: {
    method: 'POST',
    path: '/v1/webhook/replays',
    summary: 'Deliver the events of a range again',
    body: {
      from: {
        kind: 'moment',
        help: 'The first moment of the range, by the time of the event',
        required: true,
      },
      to: { kind: 'moment', help: 'The moment after the range; now when absent' },
      events: { kind: 'list', help: 'Only these, of those that the endpoint wants' },
      endpoint: { kind: 'text', help: 'The id of a webhook endpoint; needed when there is more than one' },
      only: {
        kind: 'text',
        help: '`failed`: deliveries that were abandoned. `all`: every event of the range, also what was delivered, and what the endpoint did not get since it was added or wanted the event later',
        choices: ['failed', 'all'],
      },
    },
    dryRun: true,
  },
  listWebhookReplays: {
    method: 'GET',
    path: '/v1/webhook/replays',
    summary: 'List replays with their progress, newest first',
    paged: true,
  },
  getWebhookReplay: {
    method: 'GET',
    path: '/v1/webhook/replays/{id}',
    summary: 'Read a replay and its progress',
  },
  pauseWebhookReplay: {
    method: 'POST',
    path: '/v1/webhook/replays/{id}/pause',
    summary: 'Pause a replay; what it made due again is still delivered',
    dryRun: true,
  },
  resumeWebhookReplay: {
    method: 'POST',
    path: '/v1/webhook/replays/{id}/resume',
    summary: 'Resume a paused replay',
    dryRun: true,
  },
  cancelWebhookReplay: {
    method: 'POST',
    path: '/v1/webhook/replays/{id}/cancel',
    summary: 'Cancel a replay; what it made due again is still delivered',
    dryRun: true,
  },
  listEvents: {
    method: 'GET',
    path: '/v1/events',
    summary: "Read the tenant's events in log order, oldest first",
    query: {
      cursor: {
        kind: 'text',
        help: '`cursor` or `nextCursor` of an earlier response; `end` returns no events and the cursor after the last one so far; starts at the first event when absent',
      },
      after: { kind: 'text', help: 'Another name for `cursor`; send one of them' },
      license: {
        kind: 'text',
        help: 'Only events of this license; a cursor belongs to the license that it was read with',
      },
      limit: { kind: 'number', help: 'How many items a page has at most' },
      proof: {
        kind: 'text',
        help: 'With `true`, each event carries its `record` and the `proof` that it stands in the signed log, for `keyledger verify receipt`',
        choices: ['true', 'false'],
      },
    },
  },
  listIntegrations: {
    method: 'GET',
    path: '/v1/integrations',
    summary: 'List the five payment providers, connected or not, with their mappings',
    paged: true,
  },
  connectIntegration: {
    method: 'POST',
    path: '/v1/integrations/{provider}/connect',
    summary: 'Connect a marketplace',
    body: {
      webhookSecret: { kind: 'text', help: "The secret that verifies the provider's notifications" },
      apiKey: { kind: 'text', help: 'Checked with the provider before it is stored' },
    },
    dryRun: true,
  },
  createProviderEndpoint: {
    method: 'POST',
    path: '/v1/integrations/{provider}/endpoint',
    summary: 'Create the webhook endpoint at a provider, and connect it with the secret of that endpoint',
    body: {
      apiKey: { kind: 'text', help: 'Checked with the provider, and kept sealed', required: true },
      replace: {
        kind: 'flag',
        help: 'Replace an endpoint with this address that is there already and cannot be used',
      },
      store: { kind: 'text', help: 'lemonsqueezy only: the id of the store, where the account has several' },
    },
  },
  disconnectIntegration: {
    method: 'DELETE',
    path: '/v1/integrations/{provider}',
    summary: 'Disconnect a provider and destroy its secrets; its mappings stay',
    dryRun: true,
  },
  rotateIntegrationSecret: {
    method: 'POST',
    path: '/v1/integrations/{provider}/rotate-secret',
    summary: "Replace the secret that verifies a marketplace's notifications",
    body: {
      webhookSecret: {
        kind: 'text',
        help: 'The new secret from the provider; Gumroad has none and gets a new token instead',
      },
    },
    gated: true,
    dryRun: true,
  },
  configureProductIntegration: {
    method: 'POST',
    path: '/v1/products/{productId}/integrations/{provider}',
    summary: "Map a provider's products to a product's key types",
    body: {
      permalinks: { kind: 'list', help: 'gumroad: the permalinks that sell the product' },
      variants: { kind: 'pairs', help: 'lemonsqueezy: key type by variant' },
      prices: { kind: 'pairs', help: 'paddle: key type by price; stripe: price by key type' },
      products: { kind: 'pairs', help: 'polar: key type by product' },
      paymentLinks: { kind: 'pairs', help: 'stripe: key type by payment link' },
    },
    dryRun: true,
  },
  configureCreditPacks: {
    method: 'POST',
    path: '/v1/products/{productId}/integrations/{provider}/credit-packs',
    summary: 'Say what of a provider sells credits for the licenses of a product',
    body: {
      packs: {
        kind: 'json',
        help: 'All packs of the product at this provider; none removes them',
        required: true,
      },
    },
    dryRun: true,
  },
  connectStripe: {
    method: 'POST',
    path: '/v1/integrations/stripe/connect',
    summary:
      "Start or continue to connect the tenant's Stripe account through the platform of this installation",
  },
  connectOwnStripeAccount: {
    method: 'POST',
    path: '/v1/integrations/stripe/own-account',
    summary: "Connect the tenant's own Stripe account with a key of that account, without a platform fee",
    body: {
      apiKey: {
        kind: 'text',
        help: 'A restricted key, `rk_live_…` or `rk_test_…`; checked with Stripe before it is stored',
        required: true,
      },
      webhookSecret: {
        kind: 'text',
        help: "The signing secret of the account's own endpoint, `whsec_…`",
        required: true,
      },
    },
  },
  getStripeStatus: {
    method: 'GET',
    path: '/v1/integrations/stripe/status',
    summary: 'Read the state of the connected Stripe account',
  },
  getUseReports: {
    method: 'GET',
    path: '/v1/integrations/stripe/use-reports',
    summary: 'Show what Stripe is told of the uses of licenses',
  },
  setUseReports: {
    method: 'PUT',
    path: '/v1/integrations/stripe/use-reports',
    summary: 'Report the uses of licenses to the meters of Stripe, or stop that',
    body: {
      on: {
        kind: 'flag',
        help: 'Whether uses of licenses are reported to the meters of Stripe',
        required: true,
      },
    },
    dryRun: true,
  },
  enableTestMode: {
    method: 'POST',
    path: '/v1/products/{productId}/test-mode',
    summary: 'Turn on test mode for a product, with or without Stripe test keys',
    body: {
      publishableKey: { kind: 'text', help: 'The publishable test key, `pk_test_…`' },
      secretKey: {
        kind: 'text',
        help: 'The secret test key, `sk_test_…`, or better a restricted one, `rk_test_…`',
      },
    },
    dryRun: true,
  },
  disableTestMode: {
    method: 'DELETE',
    path: '/v1/products/{productId}/test-mode',
    summary: 'Turn off test mode and destroy its secret key',
    dryRun: true,
  },
  setFreeTier: {
    method: 'POST',
    path: '/v1/products/{productId}/free-tier',
    summary: 'Turn the free tier on or off',
    body: {
      enabled: { kind: 'flag', help: 'Whether the app may be used without a license', required: true },
    },
    dryRun: true,
  },
  verifyPrices: {
    method: 'POST',
    path: '/v1/products/{productId}/key-types/verify-prices',
    summary: 'Read the price of every key type with a price from Stripe',
  },
  listSales: {
    method: 'GET',
    path: '/v1/sales',
    summary: 'List sales, newest first',
    query: {
      status: {
        kind: 'text',
        help: 'Only sales with this status',
        choices: ['received', 'parked', 'licensed'],
      },
      provider: {
        kind: 'text',
        help: 'Only sales of this provider',
        choices: ['stripe', 'gumroad', 'lemonsqueezy', 'paddle', 'polar'],
      },
      product: { kind: 'text', help: 'Only what belongs to the product with this id' },
      needs: {
        kind: 'text',
        help: '`holder`: only sales whose license has neither an email address nor a customer',
        choices: ['holder'],
      },
    },
    paged: true,
  },
  listParkedSales: {
    method: 'GET',
    path: '/v1/sales/parked',
    summary: 'List parked sales, which are paid but have no license yet, newest first',
    paged: true,
  },
  listIgnoredTests: {
    method: 'GET',
    path: '/v1/sales/ignored',
    summary: 'List the test notifications that had no effect, newest first',
    paged: true,
  },
  listUnmatchedPayments: {
    method: 'GET',
    path: '/v1/sales/unmatched',
    summary: 'List the refunds and disputes that belong to no known sale, newest first',
    paged: true,
  },
  getSale: { method: 'GET', path: '/v1/sales/{id}', summary: 'Read a sale with its payments and history' },
  replaySale: {
    method: 'POST',
    path: '/v1/sales/{id}/replay',
    summary: 'Replay a parked sale once the reason is fixed',
    dryRun: true,
  },
  mapSale: {
    method: 'POST',
    path: '/v1/sales/{id}/map',
    summary: 'Say what a parked sale sold, and license it and all others like it',
    body: {
      productId: { kind: 'text', help: 'The id of the product, unique within the tenant', required: true },
      keyTypeId: { kind: 'text', help: 'The id of the key type, unique within its product', required: true },
    },
    dryRun: true,
  },
  listAudit: {
    method: 'GET',
    path: '/v1/audit',
    summary: 'List who viewed, exported, decided and changed what, newest first',
    query: {
      actor: { kind: 'text', help: 'Only entries of this actor, in the form of the entries' },
      action: { kind: 'text', help: 'Only entries of this action' },
      kind: { kind: 'text', help: 'The kind of the target' },
      from: { kind: 'moment', help: 'Only entries from this time on' },
      to: { kind: 'moment', help: 'Only entries before this time' },
      via: {
        kind: 'text',
        help: 'Only entries that were done this way',
        choices: ['dashboard', 'api', 'command_line', 'provider', 'app', 'service'],
      },
      target: { kind: 'text', help: 'The id of the target' },
    },
    paged: true,
  },
  startTestPurchase: {
    method: 'POST',
    path: '/v1/test-purchase',
    summary: 'Run a test purchase to check that a product can be sold',
    body: {
      productId: { kind: 'text', help: 'The id of the product, unique within the tenant', required: true },
      keyTypeId: { kind: 'text', help: "Defaults to the product's first key type" },
      provider: {
        kind: 'text',
        help: 'Defaults to the first connected provider with a mapping for the product',
        choices: ['stripe', 'gumroad', 'lemonsqueezy', 'paddle', 'polar'],
      },
    },
  },
  getTestPurchase: {
    method: 'GET',
    path: '/v1/test-purchase/{id}',
    summary: 'Read the progress of a test purchase',
  },
  getCheckpoint: {
    method: 'GET',
    path: '/v1/transparency/checkpoint',
    summary: 'Read the last signed checkpoint of the log',
  },
  proveConsistency: {
    method: 'GET',
    path: '/v1/transparency/consistency',
    summary: 'Prove that one state of the log continues an earlier one',
    query: {
      from: { kind: 'number', help: 'The number of events of the earlier checkpoint', required: true },
      to: { kind: 'number', help: 'The number of events of the later one', required: true },
    },
  },
  getLog: {
    method: 'GET',
    path: '/v1/transparency/log',
    summary: 'Read the name and the public keys of the log',
  },
  validateLicense: {
    method: 'POST',
    path: '/v1/licenses/validate',
    summary: 'Validate a license key on a device',
    body: {
      product_id: { kind: 'text', help: 'The id of the product, unique within the tenant', required: true },
      license_key: {
        kind: 'text',
        help: 'The license key. Case, hyphens and white space do not matter',
        required: true,
      },
      device_id: { kind: 'text', help: 'When absent, only the license is checked' },
      fence: {
        kind: 'number',
        help: 'The `fence` of the floating seat that the call is about, as it was answered; ignored for other seats',
      },
      meters: {
        kind: 'text',
        help: 'true to get how all meters of the license stand, or the ids of those to get',
      },
      app_version: { kind: 'text', help: 'The version of the app, as it reported it' },
      app_built_at: {
        kind: 'text',
        help: 'When the app was built: ISO 8601, a date alone (its midnight in UTC) or Unix seconds. A license covers builds until `updates_until`; absent or unreadable counts as covered',
      },
      app_channel: {
        kind: 'text',
        help: 'Narrows `newest_covered_release` to a channel of the listed releases',
      },
    },
  },
  keepSeat: {
    method: 'POST',
    path: '/v1/licenses/heartbeat',
    summary: 'Keep the floating seat of a device for one more period',
    body: {
      product_id: { kind: 'text', help: 'The id of the product, unique within the tenant', required: true },
      license_key: {
        kind: 'text',
        help: 'The license key. Case, hyphens and white space do not matter',
        required: true,
      },
      device_id: { kind: 'text', help: 'A stable id, chosen by the caller', required: true },
      fence: {
        kind: 'number',
        help: 'The `fence` of the floating seat that the call is about, as it was answered; ignored for other seats',
      },
    },
    notRepeatable: true,
  },
  activateDevice: {
    method: 'POST',
    path: '/v1/licenses/activate',
    summary: 'Activate a device; repeating the same device_id takes no second seat',
    body: {
      product_id: { kind: 'text', help: 'The id of the product, unique within the tenant', required: true },
      license_key: {
        kind: 'text',
        help: 'The license key. Case, hyphens and white space do not matter',
        required: true,
      },
      device_id: { kind: 'text', help: 'A stable id, chosen by the caller', required: true },
      name: { kind: 'text', help: 'A label for the device; defaults to its id' },
      app_version: { kind: 'text', help: 'The version of the app, as it reported it' },
      app_built_at: {
        kind: 'text',
        help: 'When the app was built: ISO 8601, a date alone (its midnight in UTC) or Unix seconds. A license covers builds until `updates_until`; absent or unreadable counts as covered',
      },
      app_channel: {
        kind: 'text',
        help: 'Narrows `newest_covered_release` to a channel of the listed releases',
      },
    },
  },
  deactivateDevice: {
    method: 'POST',
    path: '/v1/licenses/deactivate',
    summary: 'Deactivate a device; a device without a seat gets the same response',
    body: {
      product_id: { kind: 'text', help: 'The id of the product, unique within the tenant', required: true },
      license_key: {
        kind: 'text',
        help: 'The license key. Case, hyphens and white space do not matter',
        required: true,
      },
      device_id: { kind: 'text', help: 'A stable id, chosen by the caller', required: true },
      fence: {
        kind: 'number',
        help: 'The `fence` of the floating seat that the call is about, as it was answered; ignored for other seats',
      },
    },
  },
  consumeMeter: {
    method: 'POST',
    path: '/v1/licenses/consume',
    summary: 'Count a use under a meter of a license, if there is enough',
    body: {
      product_id: { kind: 'text', help: 'The id of the product, unique within the tenant', required: true },
      license_key: {
        kind: 'text',
        help: 'The license key. Case, hyphens and white space do not matter',
        required: true,
      },
      meter: { kind: 'text', help: 'The id of the meter, as the key type has it', required: true },
      amount: {
        kind: 'text',
        help: 'How much, as a decimal number in a string with up to 6 places: as a JSON number it could lose digits',
        required: true,
      },
      idempotency_key: {
        kind: 'text',
        help: 'Names this request under its meter. It counts once, however often it is sent, in whatever processes it arrives',
        required: true,
      },
      device_id: { kind: 'text', help: 'When sent, the device must have a seat' },
      used_at: {
        kind: 'number',
        help: 'When it was used, in Unix seconds, for a use that is reported late: at most 35 days ago. Now when absent',
      },
    },
  },
  holdMeter: {
    method: 'POST',
    path: '/v1/licenses/hold',
    summary: 'Keep an amount of a meter free for work whose use is not known yet',
    body: {
      product_id: { kind: 'text', help: 'The id of the product, unique within the tenant', required: true },
      license_key: {
        kind: 'text',
        help: 'The license key. Case, hyphens and white space do not matter',
        required: true,
      },
      meter: { kind: 'text', help: 'The id of the meter, as the key type has it', required: true },
      amount: {
        kind: 'text',
        help: 'How much, as a decimal number in a string with up to 6 places: as a JSON number it could lose digits',
        required: true,
      },
      idempotency_key: {
        kind: 'text',
        help: 'Names this request under its meter. It counts once, however often it is sent, in whatever processes it arrives',
        required: true,
      },
      device_id: { kind: 'text', help: 'When sent, the device must have a seat' },
      seconds: {
        kind: 'number',
        help: 'How long the hold lasts, unless it is committed or released before: up to a day',
        required: true,
      },
    },
  },
  commitHold: {
    method: 'POST',
    path: '/v1/licenses/hold/commit',
    summary: 'Count what was used of a hold, and free the rest; repeating it gets the same response',
    body: {
      hold_id: { kind: 'text', help: 'The id of the hold', required: true },
      amount: { kind: 'text', help: 'What was used, at most the amount of the hold', required: true },
    },
  },
  releaseHold: {
    method: 'POST',
    path: '/v1/licenses/hold/release',
    summary: 'Free what a hold keeps, without counting anything; repeating it gets the same response',
    body: { hold_id: { kind: 'text', help: 'The id of the hold', required: true } },
  },
  startDeviceLogin: {
    method: 'POST',
    path: '/v1/login/device',
    summary: 'Start a device authorization: get a code that a person approves in the dashboard',
    body: {
      client_id: {
        kind: 'text',
        help: 'The client id of an OAuth library; any text. Shown to the person if client_name is absent',
      },
      client_name: { kind: 'text', help: 'Shown to the person who approves' },
      scopes: {
        kind: 'list',
        help: 'The requested scopes; defaults to all of the management interface. `danger` is granted only if the person turns it on.',
      },
      scope: { kind: 'text', help: 'The scopes as in OAuth: one string, separated by spaces' },
    },
    notRepeatable: true,
  },
  pollDeviceLogin: {
    method: 'POST',
    path: '/v1/login/device/token',
    summary: 'Poll for the token, no faster than the interval; it is returned once',
    body: {
      device_code: { kind: 'text', help: 'The `device_code` that the start returned', required: true },
      client_id: {
        kind: 'text',
        help: 'The client id of an OAuth library; any text. Shown to the person if client_name is absent',
      },
      grant_type: { kind: 'text', help: 'Sent by OAuth libraries; required in a form' },
    },
    notRepeatable: true,
  },
} as const satisfies Record<string, DescribedOperation>
