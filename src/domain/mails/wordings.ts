import type { Decider } from '../decider.ts'
import { sameJson } from '../equality.ts'
import type { PortalLanguage } from '../portal/languages.ts'
import { Refusal } from '../refusal.ts'
import type { MailKind } from './kinds.ts'
import type { MailSender } from './senders.ts'
import type { MailStyle, PlacedTemplate, TemplatePlace, WordingEvent } from './wording-events.ts'

/** How a tenant words its mails, what they have in common, and who tells of those that bounced. */
export type Wordings = {
  /** Undefined before the first change. */
  tenantId: string | undefined
  /** By their place; see {@link templateId}. */
  templates: Readonly<Record<string, PlacedTemplate>>
  style: MailStyle
  /** Who tells of bounces; null for nobody. */
  sender: ConnectedSender | null
  /** Of every connection that ever was: all but the present one have no secrets any more. */
  operationIds: readonly string[]
}

/** The secrets of a connection are in the vault, under its operation. */
export type ConnectedSender = { sender: MailSender; operationId: string; connectedAt: string }

export type WordingCommand =
  | ({ type: 'SetMailTemplate'; tenantId: string; at: string } & PlacedTemplate)
  | ({ type: 'RemoveMailTemplate'; tenantId: string; at: string } & TemplatePlace)
  | { type: 'ChangeMailStyle'; tenantId: string; style: MailStyle; at: string }
  | { type: 'ConnectMailSender'; tenantId: string; sender: MailSender; operationId: string; at: string }
  | { type: 'DisconnectMailSender'; tenantId: string; at: string }

export const builtInWordings: Wordings = {
  tenantId: undefined,
  templates: {},
  style: { replyTo: null, footer: null, logo: false },
  sender: null,
  operationIds: [],
}

/** The state of a tenant's mails is read whole. */
const mostTemplates = 200

/** `expiring.editor.de`; what is for all products or languages has a star. Ids of products hold no star and no dot. */
export const templateId = ({ kind, productId, language }: TemplatePlace): string =>
  [kind, productId ?? '*', language ?? '*'].join('.')

/**
 * What is already so changes nothing.
 * @throws Refusal `too_many_mail_templates`
 */
export function decideWordings(wordings: Wordings, command: WordingCommand): WordingEvent[] {
  switch (command.type) {
    case 'SetMailTemplate': {
      const { type: _, ...data } = command
      const { tenantId: __, at: ___, ...template } = data
      const known = wordings.templates[templateId(data)]
      if (!known && Object.keys(wordings.templates).length >= mostTemplates)
        throw new Refusal('too_many_mail_templates')
      return sameJson(known, template) ? [] : [{ type: 'MailTemplateSet', data }]
    }
    case 'RemoveMailTemplate': {
      const { type: _, ...data } = command
      return wordings.templates[templateId(data)] ? [{ type: 'MailTemplateRemoved', data }] : []
    }
    case 'ChangeMailStyle': {
      const { type: _, ...data } = command
      return sameJson(wordings.style, data.style) ? [] : [{ type: 'MailStyleChanged', data }]
    }
    case 'ConnectMailSender': {
      const { type: _, ...data } = command
      const isDone = wordings.operationIds.includes(data.operationId)
      return isDone ? [] : [{ type: 'MailSenderConnected', data }]
    }
    case 'DisconnectMailSender': {
      const { type: _, ...data } = command
      return wordings.sender ? [{ type: 'MailSenderDisconnected', data }] : []
    }
  }
}

/** Never refuses: what is recorded has happened. */
export function evolveWordings(wordings: Wordings, event: WordingEvent): Wordings {
  switch (event.type) {
    case 'MailTemplateSet': {
      const { tenantId, at: _, ...template } = event.data
      return { ...wordings, tenantId, templates: { ...wordings.templates, [templateId(template)]: template } }
    }
    case 'MailTemplateRemoved': {
      const { [templateId(event.data)]: _, ...templates } = wordings.templates
      return { ...wordings, templates }
    }
    case 'MailStyleChanged':
      return { ...wordings, tenantId: event.data.tenantId, style: event.data.style }
    case 'MailSenderConnected': {
      const { tenantId, sender, operationId, at: connectedAt } = event.data
      const operationIds = [...wordings.operationIds, operationId]
      return { ...wordings, tenantId, sender: { sender, operationId, connectedAt }, operationIds }
    }
    case 'MailSenderDisconnected':
      return { ...wordings, sender: null }
  }
}

/** The rules of wording streams, one for each tenant. */
export const wordings: Decider<Wordings, WordingCommand, 'wording'> = {
  category: 'wording',
  initial: builtInWordings,
  decide: decideWordings,
  evolve: evolveWordings,
}

/**
 * The template of a mail: that of the product in the customer's language, then of the product, then of the tenant in the
 * language, then of the tenant. Undefined where the built-in text is sent.
 */
export function templateFor(
  { templates }: Pick<Wordings, 'templates'>,
  kind: MailKind,
  productId: string,
  customerLanguage: PortalLanguage,
): PlacedTemplate | undefined {
  for (const product of [productId, null])
    for (const language of [customerLanguage, null]) {
      const found = templates[templateId({ kind, productId: product, language })]
      if (found) return found
    }
  return undefined
}
