import { z } from 'zod'
import { maxReleases, Release, releasesInOrder } from '../../domain/products/releases.ts'
import { momentOrDay } from '../../http/schemas.ts'

/** Whether each release can be written as a line without a loss; other lists are changed over the API. */
export const isWritable = (releases: readonly Release[]): boolean =>
  releases.every(({ version }) => !/\s/.test(version))

/** A release in each line, as the form shows and takes them. */
export const releaseLines = (releases: readonly Release[]): string =>
  releases
    .map((release) => {
      const { version, channel, url } = release
      return [version, shortMoment(release.builtAt), channel, ...(url === null ? [] : [url])].join(' ')
    })
    .join('\n')

const shortMoment = (moment: string): string => moment.replace('.000Z', 'Z').replace('T00:00:00Z', '')

const text = z
  .string()
  .optional()
  .default('')
  .transform((typed, context): Release[] => {
    const releases: Release[] = []
    for (const [index, line] of typed.split(/\r?\n/).entries()) {
      if (line.trim() === '') continue
      const release = releaseIn(line.trim().split(/\s+/))
      if (release) releases.push(release)
      else {
        context.addIssue({
          code: 'custom',
          message: `Line ${index + 1} is no release. Enter a version, when it was built, and optionally a channel and an address with https://.`,
        })
        return z.NEVER
      }
    }
    const names = releases.map(({ version, channel }) => `${channel} ${version}`)
    const double = releases.find((_, index) => names.indexOf(names[index] ?? '') !== index)
    if (double) {
      context.addIssue({
        code: 'custom',
        message: `There are two releases ${double.version} on the channel ${double.channel}.`,
      })
    }
    if (releases.length > maxReleases) {
      context.addIssue({
        code: 'custom',
        message: `Enter at most ${maxReleases.toLocaleString('en')} releases. Leave out the oldest ones.`,
      })
    }
    return releasesInOrder(releases)
  })

/** The form of a product's releases. */
export const ReleasesForm = z.object({
  releases: text,
  /** When the product last changed before the form was opened. */
  seen: z.string().max(40),
})

/** The channel and the address may be left out, and have their forms to be told apart. */
function releaseIn([version, built, ...others]: readonly string[]): Release | undefined {
  const url = others.find((word) => word.includes('://')) ?? null
  const [channel = 'stable', ...more] = others.filter((word) => word !== url)
  const at = momentOrDay.safeParse(built)
  if (!at.success || more.length > 0) return undefined
  return Release.safeParse({ version, builtAt: at.data, channel, url }).data
}
