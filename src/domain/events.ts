import type { z } from 'zod'
import { AuditEvent } from './audit/events.ts'
import { ConfirmationEvent } from './confirmations/events.ts'
import { CustomRoleEvent } from './custom-roles/events.ts'
import { CustomerEvent } from './customers/events.ts'
import { DeliveryEvent } from './deliveries/events.ts'
import { IntegrationEvent } from './integrations/events.ts'
import { LedgerEvent } from './ledger/events.ts'
import { LicenseEvent } from './licenses/events.ts'
import { LinkEvent } from './links/events.ts'
import { LoginEvent } from './logins/events.ts'
import { MailEvent } from './mails/events.ts'
import { WordingEvent } from './mails/wording-events.ts'
import { MemberEvent } from './members/events.ts'
import { MeterEvent } from './meters/events.ts'
import { NotaryEvent } from './notary/events.ts'
import { PortalEvent } from './portal/events.ts'
import { ProductEvent } from './products/events.ts'
import { ReplayEvent } from './replays/events.ts'
import { ResellerEvent } from './resellers/events.ts'
import { SaleEvent } from './sales/events.ts'
import { ScimEvent } from './scim/events.ts'
import { SignInProviderEvent } from './sign-in-providers/events.ts'
import { SigningEvent } from './signing/events.ts'
import { SubjectEvent } from './subjects/events.ts'
import { TenantEvent } from './tenants/events.ts'
import { TestPurchaseEvent } from './test-purchases/events.ts'
import { TokenEvent } from './tokens/events.ts'
import { TrialEvent } from './trials/events.ts'
import { WebhookEvent } from './webhooks/events.ts'

/**
 * The events of each category of stream. The category is the part of a stream's name before the first `-`.
 * Links have the category `notice`.
 */
export const eventsOf = {
  tenant: TenantEvent,
  member: MemberEvent,
  role: CustomRoleEvent,
  signin: SignInProviderEvent,
  scim: ScimEvent,
  product: ProductEvent,
  license: LicenseEvent,
  token: TokenEvent,
  login: LoginEvent,
  customer: CustomerEvent,
  reseller: ResellerEvent,
  webhook: WebhookEvent,
  mail: MailEvent,
  wording: WordingEvent,
  portal: PortalEvent,
  integration: IntegrationEvent,
  testpurchase: TestPurchaseEvent,
  trial: TrialEvent,
  confirmation: ConfirmationEvent,
  signing: SigningEvent,
  sale: SaleEvent,
  notice: LinkEvent,
  delivery: DeliveryEvent,
  replay: ReplayEvent,
  audit: AuditEvent,
  subject: SubjectEvent,
  ledger: LedgerEvent,
  notary: NotaryEvent,
  meter: MeterEvent,
} as const

export type Category = keyof typeof eventsOf
export type EventOf<C extends Category> = z.infer<(typeof eventsOf)[C]>
export type DomainEvent = EventOf<Category>
