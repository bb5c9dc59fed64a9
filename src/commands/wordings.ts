import { findMail } from '../../projections/mails.ts'
import { findOpenPortal } from '../../projections/portal.ts'
import type { PresentProduct } from '../../projections/products/queries.ts'
import { findTenant } from '../../projections/tenants.ts'
import { findLook, findWording, findWordings } from '../../projections/wordings.ts'
import type { MailKind, MailTemplate } from '../domain/mails/kinds.ts'
import { usualMail } from '../domain/mails/mail.ts'
import type { WrittenMail } from '../domain/mails/template.ts'
import { sampleProduct, writeTestMail } from '../domain/mails/test-mail.ts'
import type { MailStyle, PlacedTemplate, TemplatePlace } from '../domain/mails/wording-events.ts'
import { type Wordings, wordings } from '../domain/mails/wordings.ts'
import type { PortalLanguage } from '../domain/portal/languages.ts'
import { portalUrl } from '../domain/portal/portal.ts'
import type { Ports } from '../ports.ts'
import { causeOf, momentOf, type Origin } from './origin.ts'
import { requireLanguage } from './portal.ts'

type WordingPorts = Ports<'db' | 'execute' | 'now'>

/**
 * Sets the vendor's own template for a mail.
 * @throws Refusal `too_many_mail_templates`, `language_unknown`
 */
export async function setMailTemplate(
  ports: WordingPorts,
  tenantId: string,
  template: PlacedTemplate,
  origin: Origin,
): Promise<Wordings> {
  if (template.language !== null) await requireLanguage(ports, tenantId, template.language)
  const at = momentOf(ports)
  const command = { type: 'SetMailTemplate', tenantId, ...template, at } as const
  await ports.execute(wordings, tenantId, command, causeOf(origin, at))
  return findWordings(ports.db, tenantId)
}

/** Removes a template; the mail has the next one that fits, or the built-in text. */
export async function removeMailTemplate(
  ports: WordingPorts,
  tenantId: string,
  { kind, productId, language }: TemplatePlace,
  origin: Origin,
): Promise<Wordings> {
  const at = momentOf(ports)
  const command = { type: 'RemoveMailTemplate', tenantId, kind, productId, language, at } as const
  await ports.execute(wordings, tenantId, command, causeOf(origin, at))
  return findWordings(ports.db, tenantId)
}

/** Changes what all mails to customers have in common. */
export async function changeMailStyle(
  ports: WordingPorts,
  tenantId: string,
  style: MailStyle,
  origin: Origin,
): Promise<Wordings> {
  const at = momentOf(ports)
  await ports.execute(
    wordings,
    tenantId,
    { type: 'ChangeMailStyle', tenantId, style, at },
    causeOf(origin, at),
  )
  return findWordings(ports.db, tenantId)
}

/** Which mail to show, and to whom. */
export type SampleRequest = {
  kind: MailKind
  tenantId: string
  /** Null for a template of all products. */
  product: PresentProduct | null
  /** Of the customer; null where it is not known. */
  language: PortalLanguage | null
  /** Made-up customers have this address. */
  email: string
  /** A template that is not saved; undefined for what is sent now. */
  draft?: MailTemplate | undefined
}

/** Writes a mail with made-up values by the functions that write those to customers. @param baseUrl the beginning of the URLs in the mail */
export async function writeSample(
  ports: Ports<'db' | 'mailing' | 'now'>,
  { kind, tenantId, product, language, email, draft }: SampleRequest,
  baseUrl: string,
): Promise<WrittenMail> {
  const productId = product?.productId ?? null
  const [{ settings }, tenant, portal] = await Promise.all([
    productId === null ? usualMail : findMail(ports.db, tenantId, productId),
    findTenant(ports.db, tenantId),
    findOpenPortal(ports.db, tenantId),
  ])
  const chosen = { kind, productId: productId ?? '', languages: [language, settings.language] }
  const wording = draft
    ? { template: { kind, productId, language, ...draft }, look: await findLook(ports.db, tenantId) }
    : await findWording(ports.db, tenantId, chosen)
  const input = {
    kind,
    email,
    vendorName: tenant?.name ?? tenantId,
    portalUrl: portal ? portalUrl(baseUrl, tenantId) : null,
    product: product ?? sampleProduct,
    language,
    now: momentOf(ports),
  }
  return writeTestMail(input, settings, ports.mailing.from, wording)
}
