/** The text of a page without tags. */
export const wordsOf = (text: string): string =>
  text
    .replace(/.*<main/s, '<main')
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll(/\s+/g, ' ')
