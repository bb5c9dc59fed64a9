/**
 * Characters that show nothing, or that change how the text around them reads:
 *
 * | class                          | what it holds                                                                  |
 * | ------------------------------ | ------------------------------------------------------------------------------ |
 * | `Cc`                           | control characters, including those that begin terminal escape sequences       |
 * | `Cf`                           | format characters: direction marks and isolates, zero-width joiners, tags      |
 * | `Default_Ignorable_Code_Point` | other characters without a glyph: fillers, variation selectors, soft hyphens   |
 * | `Cs`, `Co`, `Cn`               | lone surrogates, private use, unassigned: their appearance is undefined        |
 * | U+2800                         | the empty Braille pattern, which looks like a space                            |
 */
const invisible = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Default_Ignorable_Code_Point}\u2800]/gu

/**
 * Characters that make the text around them read differently, or hide text. No name needs them:
 *
 * | characters             | what they do                                                          |
 * | ---------------------- | --------------------------------------------------------------------- |
 * | U+200B, U+2060, U+FEFF | join or separate words without a sign, so that equal names differ     |
 * | U+2028, U+2029         | begin a line                                                          |
 * | U+202A–U+202E          | embed and override directions: `exe.gpj` is shown for `jpg.exe`       |
 * | U+2061–U+2064          | operators without a sign                                              |
 * | U+2066–U+2069          | isolate directions                                                    |
 * | U+206A–U+206F, U+FFF9–U+FFFB | deprecated controls, annotations                                |
 * | U+E0000–U+E007F        | tags: a whole text that does not show                                 |
 *
 * The marks and joiners of scripts and emoji stay (U+061C, U+200C–U+200F, variation selectors): names are written with them.
 */
const misleading = /[\u200b\u2028-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/u

/** Whether a text holds characters that change how it reads, or hide a part of it. */
export const misleads = (text: string): boolean => misleading.test(text)

/** A name that must not be refused, such as that of a buyer: on one line, without the characters that mislead. */
export const nameInOneLine = (name: string): string =>
  name
    .replaceAll(/\p{Cc}+/gu, ' ')
    .replaceAll(new RegExp(misleading, 'gu'), '')
    .trim()

/** As {@link plainText}, but spaces and line breaks are left unchanged. */
export const withoutInvisible = (text: string): string => text.replace(invisibleInLines, '')

/** The same without tabs and line breaks, which are control characters too. */
const invisibleInLines = new RegExp(`(?![\\t\\n\\r])${invisible.source}`, 'gu')

/** Line breaks and every kind of space. */
const separators = /[\s\u0085\p{Z}]+/gu

/**
 * Text from outside in a form that is safe to show: on one line, without control, bidirectional or invisible
 * characters. Each run of spaces and line breaks becomes one space.
 * @param text any text from a caller: names, reasons, user agents, URLs
 */
export const plainText = (text: string): string => text.replace(separators, ' ').replace(invisible, '').trim()

/**
 * {@link plainText} in quotation marks, so that readers see where foreign text begins and ends. Quotation
 * marks inside the text become straight ones.
 */
export const quoted = (text: string): string => `“${plainText(text).replace(/[“”„‟«»]/g, '"')}”`

/**
 * The same for programs: invisible characters are written as `\uXXXX`, which has the same meaning inside JSON
 * strings. Line breaks and tabs stay, since JSON has them only between values.
 * @param json a value written as JSON
 */
export const withEscapedInvisible = (json: string): string =>
  json.replace(invisibleInLines, (character) =>
    Array.from(
      { length: character.length },
      (_, unit) => `\\u${character.charCodeAt(unit).toString(16).padStart(4, '0')}`,
    ).join(''),
  )

const mostNames = 3
const longestName = 40

/**
 * The first few of names that a caller sent, quoted and cut, and how many more there are.
 * @param count of all, when only the first are given
 */
export function someOf(names: readonly string[], count = names.length): string {
  const shown = names.slice(0, mostNames).map(quotedName).join(', ')
  const more = count - mostNames
  return more > 0 ? `${shown} and ${more.toLocaleString('en')} more` : shown
}

/** A name from outside, in quotation marks, cut, and with its invisible characters escaped. */
export function quotedName(name: string): string {
  const cut = name.length > longestName ? `${name.slice(0, longestName)}…` : name
  return withEscapedInvisible(JSON.stringify(cut))
}
