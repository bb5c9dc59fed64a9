import { anyText, argument, secret } from './field.ts'
import type { Commands } from './operation.ts'

/** Of refused calls. */
export const refusalColumns = {
  LICENSE: 'licenseId',
  DEVICE: 'device',
  CALL: 'call',
  REASON: 'reason',
  TIMES: 'count',
  LAST: 'lastSeenAt',
}

/** Of floating seats in use. */
export const seatUse = {
  items: 'points',
  columns: { TIME: 'at', PEAK: 'peak', DENIED: 'denied' },
  options: { from: 'the first minute, hour or day, depending on the length', to: 'the end' },
}

/** Of what was used under meters over time. */
export const meteredUse = {
  items: 'meters',
  columns: { PRODUCT: 'productId', METER: 'meter', USED: 'used', OVERAGE: 'overage', UNIT: 'unit' },
  options: { from: 'the first hour or day', to: 'the end', granularity: 'the length of a point' },
}

/** Figures and refused calls. */
export const reportCommands = {
  readUsage: {
    words: 'usage',
    items: 'series',
    columns: {
      TIME: 'at',
      ACTIVATIONS: 'activations',
      DEACTIVATIONS: 'deactivations',
      VALIDATIONS: 'validations',
      REJECTED: 'rejected',
    },
    options: { from: 'the first hour or day', to: 'the end', granularity: 'the length of a row' },
  },
  readInsights: {
    words: 'insights',
    options: { from: anyText('the first day'), to: anyText('the last day') },
  },
  listRefusals: {
    words: 'refusals list',
    summary: 'List the refused calls of all licenses',
    columns: refusalColumns,
    options: { call: 'of this call', reason: 'with this reason' },
  },
  listRefusedCallsByDay: {
    words: 'refusals days',
    summary: 'Count refused calls by day',
    columns: { DAY: 'day', PRODUCT: 'productId', CALL: 'call', REASON: 'reason', TIMES: 'count' },
  },
  listUnknownKeys: {
    words: 'refusals unknown-keys',
    summary: 'List keys of refused calls that no license has',
    columns: { KEY: 'displayKey', PRODUCT: 'productId', TIMES: 'count', LAST: 'lastSeenAt' },
  },
} satisfies Partial<Commands>

const providerWords = {
  name: 'shown on the button of the sign-in page',
  clientSecret: secret('the client secret'),
  roles: 'an array of {value, role}; replaces all of them',
  defaultRole: anyText(
    'the role without a mapped value: of members, or administrator or member of an organization',
  ),
  domains: 'comma-separated: the domains of email addresses that it may vouch for',
} as const

const roleWords = { scopes: 'comma-separated; replaces all of them' } as const

/** The portal, tokens, approvals and the workspace itself. */
export const workspaceCommands = {
  listMailTemplates: {
    words: 'mail templates list',
    items: 'templates',
    columns: { TEMPLATE: 'id', SUBJECT: 'subject' },
  },
  setMailTemplate: { words: 'mail templates set' },
  removeMailTemplate: { words: 'mail templates remove' },
  previewMail: { words: 'mail preview', summary: 'Show a mail with made-up values, as it would be sent' },
  getMailStyle: { words: 'mail style show' },
  setMailStyle: { words: 'mail style set' },
  getMailSender: { words: 'mail sender show', summary: 'Show which service tells of bounces' },
  connectMailSender: {
    words: 'mail sender connect',
    summary: 'Connect the service that sends your mails; prints the address for its notifications',
    options: { key: secret('what its notifications are verified with; none for Postmark') },
  },
  disconnectMailSender: {
    words: 'mail sender disconnect',
    summary: 'Disconnect the service that tells of bounces',
  },
  listMails: {
    words: 'mails list',
    summary: 'List mails about licenses with their bounces',
    columns: { MAIL: 'id', EVENT: 'event', LICENSE: 'licenseId', STATUS: 'status', CREATED: 'createdAt' },
  },
  getPortal: { words: 'portal show', summary: 'Show the settings of the customer portal' },
  setPortal: {
    words: 'portal set',
    summary: 'Configure the customer portal; settings that are left out return to their defaults',
    options: {
      enabled: 'whether customers can sign in',
      name: 'shown instead of the name of the workspace',
      supportEmail: 'where customers ask for help',
      accentColor: 'of links and buttons, such as #0d5c4f',
      texts: 'own texts by language: {"en": {…}, "de": {…}}',
    },
  },
  setPortalLogo: {
    words: 'portal logo set',
    options: { data: argument('a PNG, JPEG or WebP of up to 100 kB', 'picture') },
  },
  removePortalLogo: { words: 'portal logo remove', summary: 'Remove the logo of the portal' },
  listTokens: {
    words: 'tokens list',
    summary: 'List API tokens with their last use',
    columns: {
      TOKEN: 'id',
      NAME: 'name',
      STATUS: 'status',
      'LAST USED': 'lastUsedAt',
      EXPIRES: 'expiresAt',
      SCOPES: 'scopes',
    },
  },
  revokeToken: { words: 'tokens revoke', question: 'Revoke this token permanently?' },
  getConfirmation: {
    words: 'confirmations status',
    summary: 'Show whether a confirmation of this token has been decided',
  },
  previewConfirmation: {
    words: 'confirmations preview',
    summary: 'Show what a request of this token that waits for an approval would change now',
  },
  getSdkKey: { words: 'sdk-key show', summary: 'Show the SDK key; creates the first one' },
  rotateSdkKey: {
    words: 'sdk-key rotate',
    summary: 'Replace the SDK key',
    question: 'Replace the SDK key? Apps with the current one are refused immediately.',
  },
  getWorkspace: {
    words: 'workspace show',
    summary: 'Show the name, the plan and the settings of the workspace',
  },
  updateWorkspace: {
    words: 'workspace update',
    summary: 'Change the name or a setting of the workspace',
    options: {
      name: 'shown on pages, in mails and in the portal',
      customersByAddress: "whether new licenses belong to the customer with their holder's address",
    },
  },
  listSignInProviders: {
    words: 'sign-in list',
    summary: 'List the providers that members and customers sign in with',
    columns: { PROVIDER: 'id', FOR: 'audience', NAME: 'name', ISSUER: 'issuer', DOMAINS: 'domains' },
  },
  getSignInProvider: { words: 'sign-in show', summary: 'Show a sign-in provider' },
  addSignInProvider: {
    words: 'sign-in add',
    summary: 'Add a provider of OpenID Connect that members sign in with, or customers',
    options: {
      ...providerWords,
      id: argument('its id, part of the redirect URI'),
      audience: 'members, who sign in to the dashboard, or customers, who sign in to the portal',
      customerId: {
        option: 'customer',
        help: 'the organization whose people sign in; without it, all customers',
      },
    },
  },
  changeSignInProvider: {
    words: 'sign-in update',
    summary: 'Change a sign-in provider',
    options: providerWords,
  },
  deleteSignInProvider: {
    words: 'sign-in delete',
    summary: 'Delete a sign-in provider',
    question: 'Delete this provider and end its sessions?',
  },
  getScim: {
    words: 'scim show',
    summary: 'Show the address for the directory, and which group gives which role',
  },
  setScim: {
    words: 'scim set',
    summary: 'Set which groups of the directory give which roles',
    options: {
      roles: 'an array of {group, role}; replaces all of them',
      defaultRole: anyText(
        'a built-in role, or the id of a custom one, without a mapped group; null for no access',
      ),
    },
  },
  listRoles: {
    words: 'roles list',
    summary: 'List the custom roles of members',
    columns: { ROLE: 'id', NAME: 'name', SCOPES: 'scopes' },
  },
  getRole: { words: 'roles show', summary: 'Show a custom role, and what it allows in the dashboard' },
  addRole: { words: 'roles add', summary: 'Add a custom role for members', options: roleWords },
  changeRole: { words: 'roles update', summary: 'Change a custom role', options: roleWords },
  deleteRole: { words: 'roles delete', summary: 'Delete a custom role', question: 'Delete this role?' },
  listAudit: {
    words: 'audit list',
    summary: 'List who viewed, exported, decided and changed what',
    columns: { TIME: 'at', ACTOR: 'actor', ACTION: 'action', TARGET: 'target.id', TIMES: 'times' },
    options: {
      actor: 'by this actor',
      action: 'this action',
      kind: 'of this kind of thing',
      from: 'then or later',
      to: 'earlier',
      via: 'how',
      target: 'of this thing',
    },
  },
  getLog: { words: 'transparency log', summary: 'Show the name and the keys of the log' },
  proveConsistency: {
    words: 'transparency consistency',
    options: { from: 'events of the earlier checkpoint', to: 'events of the later one' },
  },
} satisfies Partial<Commands>
