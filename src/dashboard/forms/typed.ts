import { z } from 'zod'
import { isPlain } from '../../domain/values.ts'

/** What a field of a form sends: absent when the page did not show it. */
export const given = z.string().trim().optional().default('')

/** A line of text that must be filled in. */
export const wantedLine = (most: number, wanted: string) =>
  given.pipe(
    z
      .string()
      .min(1, wanted)
      .max(most, `Enter at most ${most} characters.`)
      .refine(isPlain, 'This text contains characters that are not allowed.'),
  )

/** A line of text that may be left empty; it is then undefined. */
export const optionalLine = (most: number) =>
  given
    .pipe(
      z
        .string()
        .max(most, `Enter at most ${most} characters.`)
        .refine(isPlain, 'This text contains characters that are not allowed.'),
    )
    .transform((text) => text || undefined)

/** A field with a rule of its own that may be left empty; it is then undefined. */
export const optionalOf = <Rule extends z.ZodType<string>>(rule: Rule, wrong: string) =>
  given
    .refine((text) => text === '' || rule.safeParse(text).success, wrong)
    .transform((text) => (text === '' ? undefined : rule.parse(text)))

/** A whole number that may be left empty; it is then null. */
export function optionalWhole(least: number, most: number) {
  const wrong = `Enter a whole number from ${least} to ${most.toLocaleString('en')}.`
  return given
    .refine(
      (text) => text === '' || (/^\d{1,15}$/.test(text) && Number(text) >= least && Number(text) <= most),
      wrong,
    )
    .transform((text) => (text === '' ? null : Number(text)))
}

/** A whole number that must be filled in. */
export const wantedWhole = (least: number, most: number) =>
  optionalWhole(least, most).transform((value, context) => {
    if (value !== null) return value
    context.addIssue({
      code: 'custom',
      message: `Enter a whole number from ${least} to ${most.toLocaleString('en')}.`,
    })
    return z.NEVER
  })

/** A check box. */
export const checked = z
  .literal('on')
  .optional()
  .transform((value) => value === 'on')

/** The words of a text: separated by line breaks, spaces or commas. */
export const wordsIn = (text: string): string[] => text.split(/[\s,]+/).filter((word) => word !== '')
