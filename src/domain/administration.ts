import type { Category, DomainEvent } from './events.ts'

/** The categories whose events the audit log shows with where they came from. */
const administered: ReadonlySet<Category> = new Set([
  'product',
  'token',
  'reseller',
  'member',
  'role',
  'signin',
  'scim',
  'tenant',
  'webhook',
  'integration',
  'mail',
  'wording',
  'portal',
  'signing',
  'login',
  'confirmation',
  'subject',
])

/**
 * Whether events are administration, whose metadata names the network address of its request. Views of a page are not:
 * those within ten minutes are one line, and may come from several addresses.
 */
export const isAdministration = (category: Category, events: readonly DomainEvent[]): boolean =>
  administered.has(category) ||
  events.some(
    ({ type, data }) =>
      type === 'TestMailRequested' ||
      type === 'PortalViewed' ||
      (type === 'Looked' && 'action' in data && data.action !== 'viewed'),
  )
