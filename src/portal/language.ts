import { type PortalLanguage, portalLanguages } from '../domain/portal/texts.ts'

const isLanguage = (text: string | undefined): text is PortalLanguage =>
  portalLanguages.some((language) => language === text)

/**
 * The language of a page: what the person chose, else the one of the portal's that their browser prefers.
 * @param asked in the address, or in the cookie of an earlier choice
 * @param accepted the Accept-Language header
 */
export function languageFor(
  asked: readonly (string | undefined)[],
  accepted: string | undefined,
): PortalLanguage {
  return asked.find(isLanguage) ?? preferred(accepted ?? '') ?? portalLanguages[0]
}

/** `de-AT;q=0.9, en;q=0.8` prefers German. */
function preferred(accepted: string): PortalLanguage | undefined {
  const ranked = accepted
    .slice(0, 500)
    .split(',')
    .map((part) => {
      const [range = '', ...options] = part.trim().toLowerCase().split(';')
      const quality = options.map((option) => /^\s*q=([\d.]+)\s*$/.exec(option)?.[1]).find(Boolean)
      return { language: range.split('-')[0], quality: quality === undefined ? 1 : Number(quality) }
    })
    .filter(({ quality }) => quality > 0)
    .sort((one, other) => other.quality - one.quality)
  return ranked.map(({ language }) => language).find(isLanguage)
}
