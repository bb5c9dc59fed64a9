import { z } from 'zod'
import type { MailSettings } from '../../domain/mails/events.ts'
import { isOneLine, problemWith } from '../../domain/mails/kinds.ts'
import type { ProductMail } from '../../domain/mails/mail.ts'
import { LanguageTag } from '../../domain/portal/languages.ts'
import { EmailAddress, isStorable } from '../../domain/values.ts'
import { type FilledForm, newForm } from '../forms/filled-form.ts'
import { checked, optionalLine, optionalOf } from '../forms/typed.ts'

const wrongAddress = 'Enter an email address, for example keys@example.com.'
/** Refuses what cannot be filled in. */
const fillable =
  (field: 'subject' | 'text' | 'html') => (written: string | undefined, context: z.RefinementCtx) => {
    const problem = written === undefined ? undefined : problemWith('key', field, written)
    if (problem !== undefined) context.addIssue({ code: 'custom', message: `This ${problem}.` })
  }

const line = (most: number) =>
  optionalLine(most).refine(
    (text) => text === undefined || isOneLine(text),
    'This text contains characters that are not allowed.',
  )

/** A template of several lines, as it was typed; an empty one stands for the default. */
const template = (field: 'text' | 'html', most: number) =>
  z
    .string()
    .optional()
    .transform((text) => text?.replaceAll('\r\n', '\n') ?? '')
    .pipe(
      z
        .string()
        .max(most, `Enter at most ${most.toLocaleString('en')} characters.`)
        .refine(isStorable, 'This text contains characters that are not allowed.'),
    )
    .transform((text) => (text.trim() === '' ? undefined : text))
    .superRefine(fillable(field))

/** The mail settings of a product: an empty field has its default. */
export const MailForm = z
  .object({
    enabled: checked,
    fromName: line(200),
    fromEmail: optionalOf(EmailAddress, wrongAddress),
    replyTo: optionalOf(EmailAddress, wrongAddress),
    subject: line(300).superRefine(fillable('subject')),
    text: template('text', 20_000),
    html: template('html', 100_000),
    language: LanguageTag,
    receipt: checked,
    /** When the settings last changed before the form was opened. */
    seen: z.string().max(40),
  })
  .superRefine(({ fromName, fromEmail, text, html }, context) => {
    if (fromName !== undefined && fromEmail === undefined)
      context.addIssue({
        code: 'custom',
        path: ['fromEmail'],
        message: 'Enter the address that belongs to the name.',
      })
    if (html !== undefined && text === undefined)
      context.addIssue({
        code: 'custom',
        path: ['text'],
        message: 'Enter the text too, for mail programs that show plain text only.',
      })
  })

/** The settings as the command takes them. */
export const settingsIn = (form: z.infer<typeof MailForm>): MailSettings => ({
  enabled: form.enabled,
  from: form.fromEmail === undefined ? null : { name: form.fromName ?? null, email: form.fromEmail },
  replyTo: form.replyTo ?? null,
  subject: form.subject ?? null,
  text: form.text ?? null,
  html: form.html ?? null,
  language: form.language,
  receipt: form.receipt,
})

/** When the settings changed, as the form carries it. */
export const seenOf = ({ updatedAt }: ProductMail): string => updatedAt ?? 'never'

/** The form of the settings as they are now. */
export function mailForm(mail: ProductMail): FilledForm {
  const { enabled, from, replyTo, subject, text, html, language, receipt } = mail.settings
  return newForm({
    enabled: enabled ? 'on' : '',
    fromName: from?.name ?? '',
    fromEmail: from?.email ?? '',
    replyTo: replyTo ?? '',
    subject: subject ?? '',
    text: text ?? '',
    html: html ?? '',
    language,
    receipt: receipt ? 'on' : '',
    seen: seenOf(mail),
  })
}
