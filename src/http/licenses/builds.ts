import { z } from 'zod'
import { ReleaseChannel } from '../../domain/products/releases.ts'
import type { Build } from '../../verdicts/not-covered.ts'
import { momentOrDay } from '../schemas.ts'

/** The greatest Unix second whose year has four digits. */
const lastSecond = 253_402_300_799

/** A moment as ISO 8601, its date alone or Unix seconds, in the format of the log. */
const builtAt = z.union([
  ...momentOrDay.options,
  z
    .number()
    .min(0)
    .max(lastSecond)
    .transform((seconds) => new Date(seconds * 1000).toISOString()),
])

/** What an app says of its build. What cannot be read is ignored, so that it never keeps an app from its license. */
export const buildShape = {
  app_built_at: builtAt.optional().catch(undefined).meta({
    description:
      'When the app was built: ISO 8601, a date alone (its midnight in UTC) or Unix seconds. A license covers builds until `updates_until`; absent or unreadable counts as covered',
    example: '2026-11-21T09:30:00Z',
  }),
  app_channel: ReleaseChannel.optional().catch(undefined).meta({
    description: 'Narrows `newest_covered_release` to a channel of the listed releases',
    example: 'stable',
  }),
}

/** What of a request is known of the build. */
export const buildIn = ({ app_built_at, app_channel }: z.infer<z.ZodObject<typeof buildShape>>): Build => ({
  builtAt: app_built_at ?? null,
  channel: app_channel ?? null,
})

/** The fields of an answer about the updates of a license. */
export const updatesOutShape = {
  updates_until: z.int().optional().meta({
    description:
      'The license covers builds of the app until this moment, in Unix seconds. Absent when it covers every build, and where the license is not told',
    example: 1_826_789_400,
  }),
  newest_covered_release: z
    .object({
      version: z.string().meta({ description: 'The version of the release', example: '3.4.1' }),
      built_at: z.int().meta({ description: 'When it was built, in Unix seconds', example: 1_795_253_400 }),
      url: z.string().nullable().meta({
        description: 'Where to get it; null if it is not known',
        example: 'https://example.com/3.4.1',
      }),
    })
    .optional()
    .meta({
      description:
        'The newest listed release that the license covers. Only with the reason `build_not_covered`; absent when none is listed',
    }),
}
