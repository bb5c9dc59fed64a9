import { z } from 'zod'

/** A parameter of a list's URL: of a repeated one the first counts, and an empty one is absent. */
export const one = z
  .union([z.string(), z.array(z.string())])
  .optional()
  .transform((value) => [value].flat()[0]?.trim())
  .transform((value) => (value === '' ? undefined : value))

/** A parameter that follows a rule; one that does not is absent. */
export const oneAs = <Rule extends z.ZodType<string>>(rule: Rule) =>
  one.transform((value) => rule.safeParse(value).data)

/** A day in UTC: `2026-03-01`. */
export const oneDay = oneAs(z.iso.date())
