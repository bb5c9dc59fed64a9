import { argument } from './field.ts'
import type { Commands } from './operation.ts'
import { meteredUse, refusalColumns, seatUse } from './reports.ts'

const licenseColumns = {
  LICENSE: 'id',
  STATUS: 'status',
  PRODUCT: 'productId',
  'KEY TYPE': 'keyTypeId',
  KEY: 'displayKey',
  SEATS: 'seatsUsed',
  HOLDER: 'email',
  EXPIRES: 'expiresAt',
}

const meterList = {
  items: 'meters',
  columns: {
    METER: 'meter',
    USED: 'used',
    INCLUDED: 'included',
    REMAINING: 'remaining',
    OVERAGE: 'overage',
    UNIT: 'unit',
    RESETS: 'resetsAt',
  },
}
const creditOptions = {
  amount: 'how much',
  expiresAt: 'its end: a time, a duration such as 30d, or none',
  order: 'the number of the purchase',
}
const correctionOptions = { amount: 'how much was counted too much', reason: 'why' }

/** Licenses, as a vendor manages them and as its server calls them. */
export const licenseCommands = {
  listLicenses: {
    words: 'licenses list',
    columns: licenseColumns,
    options: {
      email: 'issued to this address',
      customer: 'of this customer',
      created_after: 'created then or later',
      created_before: 'created earlier',
      expires_before: 'that expire earlier',
      source: 'with this source',
      test: 'only test licenses, or none of them',
      metadata: 'with this metadata, as name=value; may be repeated',
    },
  },
  searchLicenses: {
    words: 'licenses search',
    summary: 'Find licenses by anything that a customer names: a key, a name, an address, an order',
    columns: {
      LICENSE: 'license.id',
      STATUS: 'license.status',
      PRODUCT: 'license.productId',
      KEY: 'license.displayKey',
      HOLDER: 'license.email',
      MATCHED: 'matched',
    },
    options: { text: argument('what the customer names') },
  },
  getLicense: { words: 'licenses show', summary: 'Show a license with its devices' },
  getReceipt: { words: 'licenses receipt', summary: 'Prove that a license is in the signed log' },
  getLicenseHistory: {
    words: 'licenses history',
    summary: 'Show what happened to a license, when and by whom',
    columns: { '#': 'sequence', TIME: 'time', WHAT: 'summary' },
  },
  explainLicense: {
    words: 'licenses explain',
    summary: 'Explain what validate and activate would return',
    options: { device_id: 'for this device' },
  },
  compareLicense: {
    words: 'licenses diff',
    options: {
      from: 'the earlier moment: a time, or the sequence of an event',
      to: 'the later moment; defaults to now',
    },
  },
  readSeatsOfLicense: {
    words: 'licenses seats',
    summary: 'Show the floating seats of a license in use over time',
    ...seatUse,
    options: { ...seatUse.options, seats: 'also says how many takings so many seats would have refused' },
  },
  listRefusalsOfLicense: {
    words: 'licenses refusals',
    summary: 'List the refused calls of a license, newest first',
    columns: refusalColumns,
  },
  mintLicense: {
    words: 'licenses create',
    summary: 'Mint a license; its key is shown only once',
    options: {
      keyTypeId: "defaults to the product's first",
      email: 'the holder',
      name: 'the name of the holder',
      customerId: { option: 'customer', help: 'the customer to link it to' },
      deviceLimit: 'devices, or none for unlimited',
    },
  },
  updateLicense: {
    words: 'licenses update',
    summary: 'Change a license',
    options: {
      keyTypeId: 'the new key type',
      deviceLimit: 'devices, or none for unlimited',
      email: 'the holder; an empty value removes it',
      name: 'the name of the holder; an empty value removes it',
      metadata: 'name=value; may be repeated; replaces all of it',
    },
  },
  suspendLicense: { words: 'licenses suspend', summary: 'Suspend a license until it is resumed' },
  resumeLicense: { words: 'licenses resume', summary: 'Resume a suspended license' },
  allowSharing: {
    words: 'licenses allow-sharing',
    summary: 'Allow a license that looks shared to be used as it is',
  },
  reportPublishedKeys: {
    words: 'licenses published-keys',
    summary: 'Notice the licenses whose keys were found published',
    options: { found: 'comma-separated: the keys, or the SHA-256 of each in hex' },
  },
  revokeLicense: { words: 'licenses revoke', question: 'Revoke this license permanently?' },
  reinstateLicense: { words: 'licenses reinstate' },
  remintLicense: {
    words: 'licenses remint',
    summary: 'Give a license a new key, shown only once',
    question: 'Replace the key? The current one stops working.',
    options: { keepDevices: 'whether its devices keep their seats' },
  },
  sendLicenseKey: { words: 'licenses send-key', summary: 'Mail the kept key to the holder again' },
  deactivateDeviceOfLicense: {
    words: 'licenses deactivate-device',
    summary: 'Free the seat of a device',
    options: { instanceId: { option: 'instance', help: 'the instance, instead of the device' } },
  },
  listLicenseFiles: {
    words: 'licenses files',
    summary: 'List the license files of devices without a network',
    items: 'files',
    columns: {
      FILE: 'fileId',
      DEVICE: 'deviceName',
      STATE: 'state',
      ISSUED: 'issuedAt',
      ENDS: 'endsAt',
    },
  },
  createLicenseFile: {
    words: 'licenses create-file',
    summary: 'Make a license file from the request of a device without a network',
    options: { request: 'the text that the app made', days: 'how long it is good' },
  },
  releaseLicenseFile: {
    words: 'licenses release-file',
    summary: 'Take a license file back, which frees the seat',
    options: { release: 'the text that the app made' },
  },
  listLicenseMeters: {
    words: 'licenses meters',
    summary: 'Show what a license has used under each meter',
    ...meterList,
  },
  readMeteredUseOfLicense: {
    words: 'licenses usage',
    summary: 'Sum up what a license used under its meters; with --json by hour or day',
    ...meteredUse,
  },
  listMeterLines: {
    words: 'licenses uses',
    summary: 'List what was counted under a meter, newest first',
    columns: { TIME: 'time', KIND: 'kind', AMOUNT: 'amount', KEY: 'key', NOTE: 'note' },
  },
  addCredit: {
    words: 'licenses add-credit',
    summary: 'Add a prepaid amount to a meter',
    options: creditOptions,
  },
  withdrawCredit: {
    words: 'licenses withdraw-credit',
    summary: 'Take back what is left of a credit',
    question: 'Take back what is left of this credit?',
    options: { reason: 'why' },
  },
  correctUse: {
    words: 'licenses correct-use',
    summary: 'Take off what was counted wrongly in the present period',
    options: correctionOptions,
  },
  consumeMeter: {
    words: 'licenses consume',
    summary: 'Count a use under a meter',
    options: { used_at: 'when it was used, in Unix seconds, for one that is reported late' },
  },
  holdMeter: { words: 'licenses hold', summary: 'Keep an amount of a meter free for a time' },
  commitHold: { words: 'licenses commit-hold', summary: 'Count what was used of a hold, and free the rest' },
  releaseHold: { words: 'licenses release-hold', summary: 'Free what a hold keeps' },
  listRelays: {
    words: 'licenses relays',
    summary: "List the relays in customers' networks",
    items: 'relays',
    columns: { RELAY: 'relayId', NAME: 'name', STATE: 'state', SEATS: 'seats', ENDS: 'endsAt' },
  },
  certifyRelay: {
    words: 'licenses certify-relay',
    summary: 'Enroll or renew a relay by its request',
    options: { request: 'the text that the relay made', days: 'how long it may go on without renewal' },
  },
  releaseRelay: {
    words: 'licenses release-relay',
    summary: 'Take the seats of a relay back',
    options: { release: 'the text that the relay made' },
  },
  reseatDevice: { words: 'licenses reseat-device', summary: 'Give a deactivated device its seat back' },
  takeBackImport: { words: 'licenses take-back-import', question: 'Take back the import of this license?' },
  validateLicense: {
    words: 'licenses validate',
    summary: 'Validate a license key',
    options: { device_id: 'on this device' },
  },
  activateDevice: {
    words: 'licenses activate',
    summary: 'Activate a device with a key',
    options: { name: 'the name of the device' },
  },
  keepSeat: { words: 'licenses heartbeat', summary: 'Keep the floating seat of a device' },
  deactivateDevice: { words: 'licenses deactivate', summary: 'Deactivate a device with a key' },
} satisfies Partial<Commands>

/** Customers and their licenses. */
export const customerCommands = {
  listCustomers: {
    words: 'customers list',
    columns: { CUSTOMER: 'id', EMAIL: 'email', NAME: 'name', LICENSES: 'licenseIds', CREATED: 'createdAt' },
    options: { email: 'with this address', name: 'with three or more characters of their name' },
  },
  createCustomer: { words: 'customers create', options: { email: 'their address', name: 'their name' } },
  getCustomer: { words: 'customers show', summary: 'Show a customer' },
  updateCustomer: {
    words: 'customers update',
    summary: 'Change a customer',
    options: { email: 'their address', name: 'their name; an empty value removes it' },
  },
  eraseCustomer: {
    words: 'customers erase',
    summary: 'Erase the person everywhere',
    question: 'Erase this person everywhere? It cannot be undone.',
  },
  listResellers: {
    words: 'resellers list',
    columns: { RESELLER: 'id', NAME: 'name', STATUS: 'status', CREATED: 'createdAt' },
  },
  createReseller: {
    words: 'resellers create',
    summary: 'Create a reseller',
    options: { name: 'their name', quotas: 'an array of {productId, keyTypeId, licenses}' },
  },
  getReseller: { words: 'resellers show', summary: 'Show a reseller, with what is used of their quotas' },
  updateReseller: {
    words: 'resellers update',
    summary: 'Change a reseller',
    options: { name: 'their name', quotas: 'all quotas: an array of {productId, keyTypeId, licenses}' },
  },
  closeReseller: {
    words: 'resellers close',
    summary: 'Close a reseller for good',
    question: 'Close this reseller? It cannot be undone.',
  },
  linkLicense: {
    words: 'customers link',
    summary: 'Link a license to a customer',
    options: { licenseId: argument('the license') },
  },
  unlinkLicense: {
    words: 'customers unlink',
    summary: 'Unlink a license from a customer',
    options: { licenseId: argument('the license') },
  },
  mergeCustomer: {
    words: 'customers merge',
    summary: 'Merge a customer into another one',
    options: { into: 'the customer that stays' },
  },
  unmergeCustomer: { words: 'customers unmerge', summary: 'Undo the merge of a customer' },
  linkLicensesByAddress: { words: 'customers link-licenses' },
  listLicensesOfCustomer: {
    words: 'customers licenses',
    summary: "List a customer's licenses, newest first",
    columns: licenseColumns,
  },
  listSalesOfCustomer: {
    words: 'customers sales',
    summary: "List a customer's sales, newest first",
    columns: { SALE: 'id', PROVIDER: 'provider', STATUS: 'status', LICENSE: 'licenseId' },
  },
  listCustomerNotes: {
    words: 'customers notes list',
    summary: 'List the notes about a customer, newest first',
    columns: { NOTE: 'id', TIME: 'createdAt', BY: 'actor.name', TEXT: 'text' },
  },
  addCustomerNote: {
    words: 'customers notes add',
    summary: 'Add a note about a customer',
    options: { text: argument('the note') },
  },
  removeCustomerNote: { words: 'customers notes remove', summary: 'Remove a note about a customer' },
  formOrganization: {
    words: 'customers organization form',
    summary: 'Make a customer an organization with people',
  },
  dissolveOrganization: {
    words: 'customers organization dissolve',
    summary: 'Make an organization a customer of one person again',
    question: 'Take the access of all its people away?',
  },
  listPeople: {
    words: 'customers people list',
    summary: 'List the people of an organization, newest first',
    columns: {
      PERSON: 'id',
      EMAIL: 'email',
      NAME: 'name',
      ROLE: 'role',
      ADDED: 'addedAt',
      INVITED: 'invitedAt',
    },
  },
  addPeople: {
    words: 'customers people add',
    summary: 'Add people to an organization, and invite them by email',
    options: {
      people: 'an array of {email, name?, role?}',
      invite: 'whether they get an invitation; yes when absent',
      language: 'the language of the invitations',
    },
  },
  changePersonRole: {
    words: 'customers people role',
    summary: 'Change what a person may do',
    options: { role: argument('administrator or member') },
  },
  invitePerson: {
    words: 'customers people invite',
    summary: 'Send a person another invitation',
    options: { language: 'the language of the invitation' },
  },
  removePerson: { words: 'customers people remove', summary: 'Remove a person from an organization' },
  readSeatsOfCustomer: {
    words: 'customers seats',
    summary: "Show the floating seats of a customer's licenses in use over time",
    ...seatUse,
  },
  readMeteredUseOfCustomer: {
    words: 'customers usage',
    summary: "Sum up what a customer's licenses used under their meters; with --json by hour or day",
    ...meteredUse,
  },
  replaceEntitlementOverrides: {
    words: 'customers entitlements',
    summary: "Replace a customer's entitlement overrides",
    options: { overrides: 'an array of {entitlement, effect, productId?, expiresAt?, reason?}' },
  },
  listCustomerMeters: {
    words: 'customers meters',
    summary: "Show what a customer's licenses have used under each meter that they share",
    ...meterList,
  },
  listCustomerMeterLines: {
    words: 'customers uses',
    summary: 'List what was counted under a meter, newest first',
    columns: { TIME: 'time', KIND: 'kind', AMOUNT: 'amount', LICENSE: 'licenseId', KEY: 'key', NOTE: 'note' },
  },
  addCustomerCredit: {
    words: 'customers add-credit',
    summary: 'Add a prepaid amount to a meter',
    options: creditOptions,
  },
  withdrawCustomerCredit: {
    words: 'customers withdraw-credit',
    summary: 'Take back what is left of a credit',
    question: 'Take back what is left of this credit?',
    options: { reason: 'why' },
  },
  correctCustomerUse: {
    words: 'customers correct-use',
    summary: 'Take off what was counted wrongly in the present period',
    options: correctionOptions,
  },
} satisfies Partial<Commands>
