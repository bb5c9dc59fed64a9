import type { AuditedAction, AuditedKind } from '../../../projections/audit/actions.ts'
import type { Via } from '../../../projections/audit/queries.ts'

/** The actions of the audit log in sentences; those that end in a colon are followed by an operation. */
export const actionWords: Readonly<Record<AuditedAction, string>> = {
  viewed: 'viewed',
  searched: 'searched:',
  exported: 'exported',
  revealed: 'revealed',
  portal_viewed: 'viewed the portal as',
  rebuilt: 'rebuilt',
  erased: 'erased',
  asked: 'requested:',
  approved: 'approved:',
  denied: 'denied:',
  withdrawn: 'withdrew approval:',
  executed: 'executed:',
  refused: 'execution refused:',
  required: 'turned on the rule:',
  no_longer_required: 'turned off the rule:',
  signed_in: 'signed in',
  sign_in_failed: 'failed to sign in:',
  created: 'created',
  changed: 'changed',
  deleted: 'removed',
  tested: 'tested',
  logo_changed: 'replaced the logo of',
  logo_removed: 'removed the logo of',
  rotated: 'replaced the secret of',
  revoked: 'revoked',
  connected: 'connected',
  disconnected: 'disconnected',
  link_issued: 'issued a sign-in link for',
  prices_verified: 'verified the prices of',
  releases_listed: 'listed the releases of',
  onboarding_dismissed: 'hid the setup checklist',
  selling_elsewhere_chosen: 'chose to sell elsewhere for',
  granted: 'approved',
  declined: 'denied',
}

/** The kinds of targets, as the filter and the sentences name them. */
export const kindWords: Readonly<Record<AuditedKind, string>> = {
  license: 'license',
  licenses: 'licenses',
  customer: 'customer',
  customers: 'customers',
  sale: 'sale',
  sales: 'sales',
  device: 'device',
  devices: 'devices',
  delivery: 'delivery',
  deliveries: 'deliveries',
  mails: 'mails',
  search: 'search',
  evidence: 'evidence',
  audit: 'audit log',
  read_models: 'read models',
  operation: 'operation',
  subject: 'person',
  approval_by_another_member: 'approval by another member',
  product: 'product',
  key_type: 'key type',
  token: 'API token',
  member: 'member',
  members: 'members',
  tenant: 'workspace',
  webhook: 'webhook',
  integration: 'integration',
  mapping: 'mapping',
  credit_packs: 'credit packs',
  mail: 'mail of the product',
  sdk_key: 'SDK key',
  checkout_key: 'checkout key',
  portal: 'customer portal',
  signing_key: 'signing key',
  sign_in_provider: 'sign-in provider',
  device_authorization: 'device authorization',
}

/** What was used, as the filter and the lines name it. */
export const viaWords: Readonly<Record<Via, string>> = {
  dashboard: 'dashboard',
  api: 'API',
  command_line: 'command line',
  provider: 'payment provider',
  app: 'app',
  service: 'keyledger itself',
}

/** The words for a name; one that a newer version recorded stands for itself: `endpoint_paused` is `endpoint paused`. */
export const wordsOf = (words: Readonly<Record<string, string>>, name: string): string =>
  words[name] ?? name.replaceAll('_', ' ')
