import { templateId } from '../../src/domain/mails/wordings.ts'
import type { Recorded } from '../../src/domain/recorded.ts'
import type { Administration } from './administered.ts'
import { fieldsOf } from './fields.ts'

/** What an event says about the mails of a product. */
export function ofMail({ event }: Recorded<'mail'>): Administration {
  const { tenantId, productId, settings } = event.data
  return { kind: 'mail', id: productId, tenantId, action: 'changed', fields: fieldsOf(settings), whole: true }
}

/** What an event says about the mails of a tenant. */
export function ofWording({ event }: Recorded<'wording'>): Administration {
  const { tenantId } = event.data
  if (event.type === 'MailStyleChanged')
    return { kind: 'mail_style', id: null, tenantId, action: 'changed', fields: fieldsOf(event.data.style) }
  if (event.type === 'MailSenderConnected' || event.type === 'MailSenderDisconnected')
    return ofMailSender(event)
  const of = { kind: 'mail_template', id: templateId(event.data), tenantId, whole: true } as const
  if (event.type === 'MailTemplateRemoved') return { ...of, action: 'deleted', fields: null }
  const { subject, text, html } = event.data
  return { ...of, action: 'changed', fields: fieldsOf({ subject, text, html }) }
}

function ofMailSender(
  event: Extract<Recorded<'wording'>['event'], { type: 'MailSenderConnected' | 'MailSenderDisconnected' }>,
): Administration {
  const of = { kind: 'mail_sender', id: null, tenantId: event.data.tenantId } as const
  return event.type === 'MailSenderConnected'
    ? { ...of, action: 'connected', fields: fieldsOf({ sender: event.data.sender }) }
    : { ...of, action: 'disconnected', fields: null }
}
