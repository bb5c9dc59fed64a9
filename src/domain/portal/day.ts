import type { PortalLanguage } from './texts.ts'

/** How numbers and days of a language are written. */
export const languageTags: Record<PortalLanguage, string> = { en: 'en-GB', de: 'de-DE' }

/** `12 November 2026`: a day in UTC, as people of the language write it. */
export const dayIn = (language: PortalLanguage, moment: string): string =>
  new Intl.DateTimeFormat(languageTags[language], { dateStyle: 'long', timeZone: 'UTC' }).format(
    new Date(moment),
  )
