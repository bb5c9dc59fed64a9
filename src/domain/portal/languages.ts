import { languageOfTag, type PortalLanguage } from './texts.ts'

/** How numbers and days of a language are written. */
export const languageTags: Record<PortalLanguage, string> = { en: 'en-GB', de: 'de-DE' }

/** `12 November 2026`: a day in UTC, as people of the language write it. */
export const dayIn = (language: PortalLanguage, moment: string): string =>
  new Intl.DateTimeFormat(languageTags[language], { dateStyle: 'long', timeZone: 'UTC' }).format(
    new Date(moment),
  )

/** The language of the portal's that a browser prefers by its Accept-Language header: `de-AT;q=0.9, en;q=0.8` prefers German. */
export function acceptedLanguage(accepted: string): PortalLanguage | undefined {
  const ranked = accepted
    .slice(0, 500)
    .split(',')
    .map((part) => {
      const [range = '', ...options] = part.trim().toLowerCase().split(';')
      const quality = options.map((option) => /^\s*q=([\d.]+)\s*$/.exec(option)?.[1]).find(Boolean)
      return { language: languageOfTag(range), quality: quality === undefined ? 1 : Number(quality) }
    })
    .filter(({ quality }) => quality > 0)
    .sort((one, other) => other.quality - one.quality)
  return ranked.find(({ language }) => language !== undefined)?.language
}
