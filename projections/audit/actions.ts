import type { AuditAction, AuditTarget } from '../../src/domain/audit/events.ts'

/** What an entry says was done. The words for it are in `src/dashboard/audit/labels.ts`, which names every one. */
export type AuditedAction =
  | AuditAction
  | 'portal_viewed'
  | 'rebuilt'
  | 'erased'
  // Of dangerous requests.
  | 'asked'
  | 'approved'
  | 'denied'
  | 'withdrawn'
  | 'executed'
  | 'refused'
  // Of the rule that another member has to approve.
  | 'required'
  | 'no_longer_required'
  | 'signed_in'
  | 'sign_in_failed'
  // Of what is administered.
  | 'created'
  | 'changed'
  | 'deleted'
  | 'tested'
  | 'logo_changed'
  | 'logo_removed'
  | 'rotated'
  | 'revoked'
  | 'connected'
  | 'disconnected'
  | 'link_issued'
  | 'prices_verified'
  | 'releases_listed'
  | 'onboarding_dismissed'
  | 'selling_elsewhere_chosen'
  | 'provisioned'
  | 'address_changed'
  | 'granted'
  | 'declined'

/** What is administered. */
export type AdministeredKind =
  | 'product'
  | 'key_type'
  | 'token'
  | 'reseller'
  | 'member'
  | 'role'
  | 'tenant'
  | 'webhook'
  | 'integration'
  | 'mapping'
  | 'credit_packs'
  | 'mail'
  | 'mail_sender'
  | 'mail_style'
  | 'mail_template'
  | 'sdk_key'
  | 'checkout_key'
  | 'portal'
  | 'portal_language'
  | 'signing_key'
  | 'sign_in_provider'
  | 'directory'
  | 'directory_group'
  | 'device_authorization'

/** What it was done to. */
export type AuditedKind =
  | AdministeredKind
  | Exclude<AuditTarget['kind'], 'sdk-key'>
  | 'read_models'
  | 'operation'
  | 'subject'
  | 'approval_by_another_member'
