import { acceptedLanguage } from '../domain/portal/languages.ts'
import { type PortalLanguage, portalLanguages } from '../domain/portal/texts.ts'

const isLanguage = (text: string | undefined): text is PortalLanguage =>
  portalLanguages.some((language) => language === text)

/**
 * The language of a page: what the person chose, else the one of the portal's that their browser prefers.
 * @param asked in the address, or in the cookie of an earlier choice
 * @param accepted the Accept-Language header
 */
export function languageFor(
  wanted: readonly (string | undefined)[],
  accepted: string | undefined,
): PortalLanguage {
  return wanted.find(isLanguage) ?? acceptedLanguage(accepted ?? '') ?? portalLanguages[0]
}
