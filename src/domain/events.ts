import type { z } from 'zod'
import { AuditEvent } from './audit/events.ts'
import { ConfirmationEvent } from './confirmation/events.ts'
import { CustomerEvent } from './customer/events.ts'
import { DeliveryEvent } from './delivery/events.ts'
import { IntegrationEvent } from './integration/events.ts'
import { LedgerEvent } from './ledger/events.ts'
import { LicenseEvent } from './license/events.ts'
import { LoginEvent } from './login/events.ts'
import { MailEvent } from './mail/events.ts'
import { MemberEvent } from './member/events.ts'
import { NoticeEvent } from './notice/events.ts'
import { ProductEvent } from './product/events.ts'
import { SaleEvent } from './sale/events.ts'
import { SigningEvent } from './signing/events.ts'
import { SubjectEvent } from './subject/events.ts'
import { TenantEvent } from './tenant/events.ts'
import { TestPurchaseEvent } from './testpurchase/events.ts'
import { TokenEvent } from './token/events.ts'
import { TrialEvent } from './trial/events.ts'
import { WebhookEvent } from './webhook/events.ts'

/** What each category of stream may hold. The category is the part of a stream's name before the first `-`. */
export const eventsOf = {
  tenant: TenantEvent,
  member: MemberEvent,
  product: ProductEvent,
  license: LicenseEvent,
  token: TokenEvent,
  login: LoginEvent,
  customer: CustomerEvent,
  webhook: WebhookEvent,
  mail: MailEvent,
  integration: IntegrationEvent,
  testpurchase: TestPurchaseEvent,
  trial: TrialEvent,
  confirmation: ConfirmationEvent,
  signing: SigningEvent,
  sale: SaleEvent,
  notice: NoticeEvent,
  delivery: DeliveryEvent,
  audit: AuditEvent,
  subject: SubjectEvent,
  ledger: LedgerEvent,
} as const

export type Category = keyof typeof eventsOf
export type EventOf<C extends Category> = z.infer<(typeof eventsOf)[C]>
export type DomainEvent = EventOf<Category>
