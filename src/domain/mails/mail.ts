import type { Decider } from '../decider.ts'
import { sameJson } from '../equality.ts'
import type { MailEvent, MailSettings } from './events.ts'

/** The mail settings of one product. */
export type ProductMail = {
  /** Undefined before the first settings. */
  tenantId: string | undefined
  productId: string | undefined
  settings: MailSettings
  updatedAt: string | null
}

export type MailCommand = {
  type: 'ChangeMailSettings'
  tenantId: string
  productId: string
  settings: MailSettings
  at: string
}

/** Until a product has settings, its customers get the installation's default mail. */
const usualSettings: MailSettings = {
  enabled: true,
  from: null,
  replyTo: null,
  subject: null,
  text: null,
  html: null,
  language: 'en',
  receipt: false,
}

export const usualMail: ProductMail = {
  tenantId: undefined,
  productId: undefined,
  settings: usualSettings,
  updatedAt: null,
}

/** The settings that are already recorded change nothing. Never refuses. */
export function decideMail(mail: ProductMail, { type: _, ...data }: MailCommand): MailEvent[] {
  return sameJson(mail.settings, data.settings) ? [] : [{ type: 'MailSettingsChanged', data }]
}

/** Never refuses: what is recorded has happened. */
export function evolveMail(_mail: ProductMail, event: MailEvent): ProductMail {
  const { at, ...changed } = event.data
  return { ...changed, updatedAt: at }
}

/** The rules of mail streams, one for each product. */
export const mails: Decider<ProductMail, MailCommand, 'mail'> = {
  category: 'mail',
  initial: usualMail,
  decide: decideMail,
  evolve: evolveMail,
}
