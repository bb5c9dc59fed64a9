import { z } from 'zod'
import { isColor, isReadableAccent } from '../../domain/portal/color.ts'
import type { PortalSettings } from '../../domain/portal/events.ts'
import type { BuiltInLanguage } from '../../domain/portal/languages.ts'
import { portalTextKeys, problemWithText } from '../../domain/portal/texts.ts'
import { EmailAddress, isStorable } from '../../domain/values.ts'
import { type FilledForm, newForm } from '../forms/filled-form.ts'
import { checked, optionalLine, optionalOf } from '../forms/typed.ts'

const seen = z.string().max(40)

/** Whether the portal is open, and how it looks. */
export const PortalForm = z.object({
  enabled: checked,
  name: optionalLine(200),
  supportEmail: optionalOf(EmailAddress, 'Enter an email address, for example support@example.com.'),
  accentColor: z
    .string()
    .trim()
    .toLowerCase()
    .optional()
    .default('')
    .refine((color) => color === '' || isColor(color), 'Enter a color such as #0d5c4f.')
    .refine(
      (color) => !isColor(color) || isReadableAccent(color),
      'This color is too light to be read on a light page. Choose a darker one.',
    )
    .transform((color) => color || undefined),
  /** When the portal last changed before the form was opened. */
  seen,
})

/** The settings as the command takes them; the texts have a page of their own. */
export const settingsIn = (
  form: z.infer<typeof PortalForm>,
  { texts }: Pick<PortalSettings, 'texts'>,
): PortalSettings => ({
  enabled: form.enabled,
  name: form.name ?? null,
  supportEmail: form.supportEmail ?? null,
  accentColor: form.accentColor ?? null,
  texts,
})

/** When the portal changed, as the forms carry it. */
export const seenOf = ({ updatedAt }: { updatedAt: string | null }): string => updatedAt ?? 'never'

type Known = { settings: PortalSettings; updatedAt: string | null }

/** The form of the settings as they are now. */
export const portalForm = ({ settings, updatedAt }: Known): FilledForm =>
  newForm({
    enabled: settings.enabled ? 'on' : '',
    name: settings.name ?? '',
    supportEmail: settings.supportEmail ?? '',
    accentColor: settings.accentColor ?? '',
    seen: seenOf({ updatedAt }),
  })

/** The vendor's own texts of one language: an empty field stands for the built-in text. */
export const TextsForm = z
  .object({ seen })
  .catchall(z.string())
  .transform(({ seen: opened, ...fields }, context) => {
    const texts: Record<string, string> = {}
    for (const key of portalTextKeys) {
      const written = fields[key]?.replaceAll('\r\n', '\n').trim() ?? ''
      if (written === '') continue
      const problem =
        written.length > 2000
          ? 'Enter at most 2,000 characters.'
          : isStorable(written)
            ? sentence(problemWithText(key, written))
            : 'This text contains characters that are not allowed.'
      if (problem !== undefined) context.addIssue({ code: 'custom', path: [key], message: problem })
      texts[key] = written
    }
    return { seen: opened, texts }
  })

const sentence = (problem: string | undefined): string | undefined =>
  problem && `This text ${problem.startsWith('{') ? `has a placeholder that is wrong: ${problem}` : problem}.`

/** The form of the texts as they are now. */
export const textsForm = ({ settings, updatedAt }: Known, language: BuiltInLanguage): FilledForm =>
  newForm({ ...settings.texts[language], seen: seenOf({ updatedAt }) })
