import { z } from 'zod'
import type { MailTemplate } from '../../domain/mails/kinds.ts'
import { type MailKind, templateProblems } from '../../domain/mails/kinds.ts'
import { MailStyle, TemplateTexts } from '../../domain/mails/wording-events.ts'
import { EmailAddress, isPlain, isStorable } from '../../domain/values.ts'
import { type FilledForm, newForm } from '../forms/filled-form.ts'
import { checked, given, optionalOf } from '../forms/typed.ts'

const unstorable = 'This text contains characters that are not allowed.'

/** Lines as they were typed, with the line breaks that texts have. */
const lines = z
  .string()
  .optional()
  .transform((text) => text?.replaceAll('\r\n', '\n') ?? '')

const Texts = z.object({
  subject: given.pipe(TemplateTexts.shape.subject.refine(isStorable, unstorable)),
  text: lines.pipe(TemplateTexts.shape.text.refine(isStorable, unstorable)),
  html: lines
    .transform((html) => (html.trim() === '' ? null : html))
    .pipe(TemplateTexts.shape.html.refine((html) => html === null || isStorable(html), unstorable)),
})

/** The form of a template of this mail: only what can be filled in. */
export const templateForm = (kind: MailKind) =>
  Texts.superRefine((texts, context) => {
    for (const { field, message } of templateProblems(kind, texts))
      context.addIssue({ code: 'custom', path: [field], message: `This ${message}.` })
  })

/** The form with the template as it is; empty without one. */
export const filledTemplate = (template: MailTemplate | undefined): FilledForm =>
  newForm({
    subject: template?.subject ?? '',
    text: template?.text ?? '',
    html: template?.html ?? '',
  })

/** The form of what all mails have in common. */
export const StyleForm = z.object({
  replyTo: optionalOf(EmailAddress, 'Enter an email address, for example support@example.com.'),
  footer: lines
    .transform((text) => (text.trim() === '' ? null : text.trim()))
    .pipe(
      MailStyle.shape.footer.refine(
        (footer) => footer === null || isPlain(footer.replaceAll('\n', '')),
        unstorable,
      ),
    ),
  logo: checked,
})

export const filledStyle = ({ replyTo, footer, logo }: MailStyle): FilledForm =>
  newForm({ replyTo: replyTo ?? '', footer: footer ?? '', logo: logo ? 'on' : '' })
