import type { PortalLogo } from '../portal/events.ts'
import type { AddedLanguages, PortalLanguage } from '../portal/languages.ts'
import { asHtml, asText, escapeHtml, logoSource, type Part, paragraph } from './content.ts'
import { keyMailText } from './key-mail.ts'
import { fill, type MailTemplate, namesIn } from './kinds.ts'
import type { PlacedTemplate } from './wording-events.ts'

/** What all mails of a tenant to its customers have in common. */
export type MailLook = {
  replyTo: string | null
  footer: string | null
  /** The logo to show; null for none. */
  logo: PortalLogo | null
  /** Those that the vendor added. */
  languages: AddedLanguages
}

export const plainLook: MailLook = { replyTo: null, footer: null, logo: null, languages: {} }

/** How a vendor words a mail: a template of their own, or undefined for the built-in text. */
export type Wording = { template: PlacedTemplate | undefined; look: MailLook }

export const builtInWording: Wording = { template: undefined, look: plainLook }

/** Subject and bodies as they are sent, and the logo that the HTML refers to. */
export type WrittenBody = { subject: string; text: string; html: string | null; logo?: PortalLogo }

/** The parts of a mail between the logo and the footer of its vendor. */
export const dressed = (parts: readonly Part[], look: MailLook, vendorName: string): Part[] => [
  ...(look.logo === null ? [] : [{ kind: 'logo', name: vendorName } as const]),
  ...parts,
  ...(look.footer === null ? [] : [{ kind: 'footer', text: look.footer } as const]),
]

/** Built-in parts, whose values are filled in already. */
export function bodyOf(
  subject: string,
  parts: readonly Part[],
  { language, vendorName, look }: { language: PortalLanguage; vendorName: string; look: MailLook },
): WrittenBody {
  const all = dressed(parts, look, vendorName)
  return withLogo({ subject, text: asText(all), html: asHtml(language, subject, all) }, look)
}

/** The logo goes only with HTML that shows it. */
export const withLogo = (body: WrittenBody, { logo }: MailLook): WrittenBody =>
  logo !== null && body.html?.includes(logoSource) ? { ...body, logo } : body

/** The HTML of a mail as a page of its own: its logo is no attachment there. */
export const htmlAsPage = ({
  html,
  logo,
}: {
  html: string | null
  logo?: PortalLogo | undefined
}): string | null =>
  html === null || !logo ? html : html.replaceAll(logoSource, `data:${logo.type};base64,${logo.data}`)

/** What fills a template: its values by name; values of the vendor's customers are never read as a template. */
export type Filling = { language: PortalLanguage; values: Readonly<Record<string, string>> }

/**
 * Fills a vendor's template in. Without HTML of its own, the text is shown in the frame of the built-in mails: a key on a line of
 * its own stands out, and the address of the portal becomes a button. A paragraph of nothing but a value that is empty is left out.
 */
export function writeTemplate(
  template: MailTemplate,
  { language, values }: Filling,
  look: MailLook,
): WrittenBody {
  const known = { ...values, footer: look.footer ?? '' }
  const ownFooter = namesIn(template.text).includes('footer')
  const parts = partsOf(template.text, known, keyMailText(language, 'portalLink', look.languages))
  const frame = { ...look, footer: look.footer === null || ownFooter ? null : '{{footer}}' }
  const all = dressed(parts, frame, '{{vendor_name}}')
  const html = template.html ?? asHtml(language, '{{product_name}}', all)
  const body = filled({ subject: template.subject, text: asText(all), html }, known)
  return withLogo(body, look)
}

/** Fills placeholders in; values are escaped in HTML, and a subject stays one line. */
export const filled = (
  { subject, text, html }: WrittenBody,
  values: Readonly<Record<string, string>>,
): WrittenBody => ({
  subject: oneLine(fill(subject, values)),
  text: fill(text, values),
  html: html === null ? null : fill(html, values, escapeHtml),
})

const codes: ReadonlySet<string> = new Set(['license_key', 'display_key'])

const partsOf = (text: string, values: Readonly<Record<string, string>>, portalLink: string): Part[] =>
  text
    .trim()
    .split(/\n\s*\n/)
    .flatMap((block): Part[] => {
      const [name, ...others] = namesIn(block)
      const isAlone = name !== undefined && others.length === 0 && /^\s*\{\{[^{}]*\}\}\s*$/.test(block)
      if (!isAlone) return [paragraph(block)]
      if (values[name] === '') return []
      if (codes.has(name)) return [{ kind: 'code', text: block.trim() }]
      if (name === 'portal_url') return [{ kind: 'link', label: portalLink, url: block.trim() }]
      return [name === 'footer' ? { kind: 'footer', text: block.trim() } : paragraph(block)]
    })

/** Header text on one line, so that a customer's text cannot begin a header of its own. */
export const oneLine = (value: string): string => value.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim()
